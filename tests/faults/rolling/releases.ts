import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { startService } from '@troupe/testing/processes/service';

/** Two releases of the platform beside each other: one as it is here, and one made from another checkout of it. */

const ROOT = path.resolve(import.meta.dirname, '../../..');
const KEEP_COMPILED = pathToFileURL(path.join(import.meta.dirname, 'keep-compiled.mjs')).href;
const run = promisify(execFile);

/** The oldest that keeps files in the blob store. */
export const OLDEST_WITH_BLOBS = '52dd99b2';
const BLOBS = 'packages/db/migrations/0149_blobs.sql';

interface Release {
  name: string;
  start: typeof startService;
}

export interface Releases {
  from: Release;
  to: Release;
  /** The older one knows no blob store. */
  sharedFolder: boolean;
  /**
   * The part that must be answered. A version that cuts idle connections when it stops, and cannot be mended any more, fails
   * what the proxy has just sent on one of them; nothing of that was begun.
   */
  answered: number;
  /** Takes what was made for them off the disk. */
  remove: () => Promise<void>;
}

/** From `commit` to what is here; without one, or where history does not reach so far, from here to that and a migration. */
export async function twoReleases(commit?: string): Promise<Releases> {
  const folder = await mkdtemp(path.join(tmpdir(), 'troupe-release-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const here: Release = { name: 'this version', start: startService };
  try {
    if (commit !== undefined && (await isKnown(commit))) {
      await checkOut(commit, folder);
      const sharedFolder = !existsSync(path.join(folder, BLOBS));
      return {
        from: releaseIn(folder, commit),
        to: here,
        sharedFolder,
        answered: (await drainsForProxies(folder)) ? 1 : 0.99,
        remove,
      };
    }
    await checkOut('HEAD', folder);
    await writeFile(path.join(folder, 'packages/db/migrations/9999_rolled.sql'), MIGRATION);
    const to = releaseIn(folder, 'this version with a migration more');
    return { from: here, to, sharedFolder: false, answered: 1, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

const MIGRATION = `-- expand: a column that is nullable, which processes of an older release leave alone
alter table agents add column rolled text;
`;

const drainsForProxies = async (folder: string): Promise<boolean> =>
  (await readFile(path.join(folder, 'packages/kernel/src/http/drain.ts'), 'utf8').catch(() => '')).includes(
    'idleSince',
  );

const isKnown = (commit: string): Promise<boolean> =>
  run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).then(
    () => true,
    () => false,
  );

/** From its sources: how they are put together as a program differs from one version to the next. */
const releaseIn = (folder: string, name: string): Release => ({
  name,
  start: (app, env) =>
    startService(app, { ...env, NODE_COMPILE_CACHE: path.join(folder, '.cache') }, [
      '--import',
      KEEP_COMPILED,
      path.join(folder, `apps/${app}/src/main.ts`),
    ]),
});

/** The sources of a commit, with the packages that are installed here. */
async function checkOut(commit: string, folder: string): Promise<void> {
  const archive = spawn('git', ['archive', commit, 'apps', 'packages', 'package.json'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const unpacked = spawn('tar', ['-x', '-C', folder], { stdio: [archive.stdout, 'inherit', 'inherit'] });
  const codes = await Promise.all([once(archive, 'exit'), once(unpacked, 'exit')]);
  if (codes.some(([code]) => code !== 0)) throw new Error(`${commit} could not be unpacked`);
  const installed = path.join(ROOT, 'node_modules');
  const packages = path.join(folder, 'node_modules');
  await mkdir(path.join(packages, '@troupe'), { recursive: true });
  for (const name of await readdir(installed))
    if (name !== '@troupe') await symlink(path.join(installed, name), path.join(packages, name));
  for (const kind of ['apps', 'packages'])
    for (const name of await readdir(path.join(folder, kind))) await linkWorkspace(folder, path.join(kind, name));
  const pages = path.join(ROOT, 'apps/dashboard/dist');
  if (existsSync(pages)) await cp(pages, path.join(folder, 'apps/dashboard/dist'), { recursive: true });
}

async function linkWorkspace(folder: string, at: string): Promise<void> {
  const manifest = path.join(folder, at, 'package.json');
  if (!existsSync(manifest)) return;
  const { name } = JSON.parse(await readFile(manifest, 'utf8')) as { name: string };
  if (name.startsWith('@troupe/')) await symlink(path.join(folder, at), path.join(folder, 'node_modules', name));
  const own = path.join(ROOT, at, 'node_modules');
  if (existsSync(own)) await symlink(own, path.join(folder, at, 'node_modules'));
}
