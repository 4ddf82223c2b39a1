import { execFile, spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync, globSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { dockerEngine } from '@troupe/fleet';

/** The platform's image, built by a container engine without any registry: its base is made of this machine's programs. */

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const PROGRAMS = ['sh', 'env', 'mkdir', 'chown', 'ls', 'rm', 'cat', 'tar', 'gzip', 'bwrap', 'prlimit'];

const run = promisify(execFile);
export type Engine = Awaited<ReturnType<typeof dockerEngine>>;

async function which(program: string): Promise<string> {
  return (await run('/bin/sh', ['-c', `command -v ${program}`])).stdout.trim();
}

async function librariesOf(programs: readonly string[]): Promise<string[]> {
  const { stdout } = await run('ldd', [...programs]);
  // what packages with compiled parts ask for, and how older systems look up users and hosts
  const usual = globSync('/lib/*-linux-gnu/lib{dl,rt,pthread,resolv,gcc_s,stdc++,nss_files,nss_dns}.so.[0-9]');
  return [...new Set([...usual, ...[...stdout.matchAll(/(\/\S+)\s+\(0x/g)].map((match) => match[1] ?? '')])];
}

/** A folder with Node, npm and what the Dockerfile's commands need. */
async function makeBase(folder: string): Promise<void> {
  const node = process.execPath;
  await chmod(folder, 0o755);
  for (const name of ['bin', 'sbin', 'lib', 'lib64'].filter((top) => existsSync(`/${top}`))) {
    await mkdir(path.join(folder, 'usr', name), { recursive: true });
    await symlink(`usr/${name}`, path.join(folder, name));
  }
  const programs = await Promise.all(PROGRAMS.map(which));
  const files = [...programs, ...(await librariesOf([node, ...programs]))];
  if (existsSync(CERTIFICATES)) files.push(CERTIFICATES);
  for (const file of new Set(files)) await cp(realpathSync(file), path.join(folder, file), { recursive: true });
  await cp(node, path.join(folder, 'usr/bin/node'));
  const npm = path.dirname(path.dirname(realpathSync(process.env['npm_execpath'] ?? (await which('npm')))));
  await cp(npm, path.join(folder, 'usr/lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', path.join(folder, 'usr/bin/npm'));
  await mkdir(path.join(folder, 'tmp'), { mode: 0o1777 });
  await writeFile(path.join(folder, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\n');
  await writeFile(path.join(folder, 'etc/group'), 'root:x:0:\n');
}

/** What the engine says while it works; what went wrong is one of its lines. */
async function finish(stream: NodeJS.ReadableStream): Promise<void> {
  let said = '';
  for await (const piece of stream as AsyncIterable<Buffer>) said += String(piece);
  if (said.includes('"error"')) throw new Error(said.split('\n').slice(-30).join('\n'));
}

const archive = (folder: string, excluded: readonly string[] = []): Readable =>
  spawn('tar', ['-c', ...excluded.map((name) => `--exclude=${name}`), '-C', folder, '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  }).stdout;

async function ignored(): Promise<string[]> {
  const lines = (await readFile(path.join(ROOT, '.dockerignore'), 'utf8')).split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.replace(/^\*\*\//, ''));
}

/** Builds `image` from deploy/Dockerfile. */
export async function buildImage(engine: Engine, image: string): Promise<void> {
  // a step may be silent for long
  Object.assign(engine.modem, { timeout: undefined });
  const folder = await mkdtemp(path.join(tmpdir(), 'troupe-base-'));
  try {
    await makeBase(folder);
    const changes = existsSync(CERTIFICATES) ? `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}` : 'ENV LANG=C.UTF-8';
    const imported: unknown = await engine.importImage(archive(folder), {
      repo: `${image}-base`,
      tag: 'latest',
      changes,
    });
    await finish(imported as NodeJS.ReadableStream);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const registry = (await run('npm', ['config', 'get', 'registry'], { cwd: ROOT })).stdout.trim();
  const built = await engine.buildImage(archive(ROOT, await ignored()), {
    t: image,
    dockerfile: 'deploy/Dockerfile',
    buildargs: { BASE: `${image}-base`, NPM_CONFIG_REGISTRY: registry },
    networkmode: 'host',
    forcerm: true,
  });
  await finish(built);
}
