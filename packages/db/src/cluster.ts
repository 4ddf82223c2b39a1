import { spawn } from 'node:child_process';
import { chown, mkdir, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '@troupe/kernel';
import type { Binaries } from './binaries.ts';
import type { Owner } from './owner.ts';

interface Cluster {
  binaries: Binaries;
  home: string;
  folder: string;
  owner: Owner | undefined;
  throwaway: boolean;
}

const MAJOR = '18';
const ROOM_TO_CREATE = 120e6;
const ROOM_TO_START = 40e6;

/** Checks the data folder, or makes it; it appears whole or not at all. */
export async function prepareCluster(cluster: Cluster): Promise<void> {
  const { home, folder } = cluster;
  const made = await exists(folder);
  await checkRoom(home, made ? ROOM_TO_START : ROOM_TO_CREATE);
  if (made) return checkCluster(folder);
  const draft = join(home, 'postgres.new');
  await rm(draft, { recursive: true, force: true });
  try {
    await createCluster(cluster, draft);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

async function exists(folder: string): Promise<boolean> {
  // An empty folder was made by somebody who wanted to say where.
  return ((await readdir(folder).catch(allowMissing)) ?? []).length > 0;
}

function allowMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    throw new StartError(`The database folder ${error.path} belongs to another user: start Troupe as that user.`, {
      cause: error,
    });
  }
  throw error;
}

async function checkRoom(home: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(home);
  if (bavail * bsize < needed) throw diskFull(home);
}

const diskFull = (folder: string): StartError =>
  new StartError(`The disk that holds ${folder} is full: free at least ${ROOM_TO_CREATE / 1e6} MB and start again.`);

async function checkCluster(folder: string): Promise<void> {
  const version = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(allowMissing);
  if (version === undefined) throw damaged(folder, 'PG_VERSION is missing');
  if (version.trim() === MAJOR) return;
  if (!/^\d+(\.\d+)?$/.test(version.trim())) throw damaged(folder, 'PG_VERSION is unreadable');
  throw new StartError(
    `The database in ${folder} was made by PostgreSQL ${version.trim()} and this version of Troupe runs ${MAJOR}: ` +
      'dump it with the old version and load it into a new DATA_DIR, or set DATABASE_URL to a server that can open it.',
  );
}

async function createCluster({ binaries, owner, throwaway }: Cluster, draft: string): Promise<void> {
  await mkdir(draft, { mode: 0o700 });
  if (owner) await chown(draft, owner.uid, owner.gid);
  // The built-in locale behaves the same on every system and survives its updates.
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const options = ['--auth=trust', '--username=postgres', '--no-instructions', ...(throwaway ? ['--no-sync'] : [])];
  await run(binaries.initdb, ['-D', draft, ...locale, ...options], owner, draft);
  const rights = throwaway ? 'createrole createdb' : 'createrole';
  await run(
    binaries.postgres,
    ['--single', '-D', draft, ...(throwaway ? ['-F'] : []), 'postgres'],
    owner,
    draft,
    `create role troupe login ${rights};\ncreate database troupe owner troupe;\n`,
  );
}

function run(command: string, args: string[], owner: Owner | undefined, folder: string, input = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
    const child = spawn(command, args, { cwd: '/', stdio: ['pipe', 'pipe', 'pipe'], env, ...owner });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', (cause) => reject(new StartError(`PostgreSQL cannot be run: ${cause.message}.`, { cause })));
    child.once('close', (code) => {
      // The single-user server reports a failed statement and still ends with 0.
      if (code === 0 && !/^.*(ERROR|FATAL|PANIC):/m.test(output)) resolve();
      else reject(explain(output, folder));
    });
  });
}

const damaged = (folder: string, why: string): StartError =>
  new StartError(
    `The database folder ${folder} is damaged (${why}): restore it from a backup, or move it away to start with an empty one.`,
  );

/** The server's last words as one sentence that says what to do. */
export function explain(output: string, folder: string): StartError {
  if (/No space left on device|Disk quota exceeded/i.test(output)) return diskFull(folder);
  if (/postmaster\.pid" already exists|shared memory block/.test(output)) {
    return new StartError(`Another PostgreSQL server uses ${folder}: stop it first, or set another DATA_DIR.`);
  }
  const words = /(?:PANIC|FATAL|ERROR|error):\s*(.+)/.exec(output)?.[1] ?? output.trim().split('\n').at(-1);
  if (/could not (create|map) .*shared memory|Cannot allocate memory/i.test(output)) {
    return new StartError(`The database server did not get the memory it needs (${words}): free some and start again.`);
  }
  if (/has wrong ownership|Permission denied/i.test(output)) {
    return new StartError(
      `The database folder ${folder} belongs to another user (${words}): start Troupe as that user.`,
    );
  }
  return damaged(folder, words || 'the server ended without a word');
}

/** Whether the folder has been made before: a first start takes longer. */
export async function isNewCluster(dataDir: string): Promise<boolean> {
  return !(await stat(join(dataDir, 'postgres', 'PG_VERSION')).catch(() => undefined));
}
