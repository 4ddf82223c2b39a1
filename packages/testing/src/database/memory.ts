import { mkdtemp, readdir, readFile, rm, stat, statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../processes/program.ts';

/**
 * Where a server of tests keeps its data: in memory, where there is room. To copy and drop a database is to make and remove some
 * 2,500 files, which on a disk that others use, too, takes ten times as long.
 */

const MEMORY = '/dev/shm';
const PREFIX = 'troupe-test-';
/** What the server of a whole run takes at most is less than half of it. */
const ROOM = 4e9;
/** Nobody takes so long to begin. */
const BEGINS_MS = 600_000;

export async function serverFolder(): Promise<string> {
  if (!(await hasRoom())) return mkdtemp(join(tmpdir(), PREFIX));
  await removeLeftover();
  return mkdtemp(join(MEMORY, PREFIX));
}

async function hasRoom(): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(MEMORY);
    return Math.min(bavail * bsize, freemem()) >= ROOM;
  } catch {
    // no such place on this system
    return false;
  }
}

/** Of a run that was killed: memory is not emptied as disks are. */
async function removeLeftover(): Promise<void> {
  for (const name of await readdir(MEMORY)) {
    const folder = join(MEMORY, name);
    if (name.startsWith(PREFIX) && !(await isUsed(folder))) await rm(folder, { recursive: true, force: true });
  }
}

async function isUsed(folder: string): Promise<boolean> {
  const pid = await readFile(join(folder, 'postgres/postmaster.pid'), 'utf8').catch(() => undefined);
  if (pid !== undefined) return isAlive(Number.parseInt(pid, 10));
  const made = await stat(folder).catch(() => undefined);
  return made !== undefined && Date.now() - made.mtimeMs < BEGINS_MS;
}
