import { chmod, chown, mkdir, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { sha256Hex, StartError } from '@troupe/kernel';
import { SHARED_ROOT } from './binaries.ts';
import { canEnter, closedFolder, serverOwner } from './owner.ts';
import type { Owner } from './owner.ts';

export interface Place {
  /** Where lock, socket and data are. */
  home: string;
  /** The server's data. */
  folder: string;
  owner: Owner | undefined;
}

/** A socket's path has room for 107 bytes, its name included. */
const LONGEST_SOCKET = 100;

export async function placeData(dataDir: string, explicit: boolean): Promise<Place> {
  const wanted = resolve(dataDir);
  await makeFolder(wanted);
  const home = await realpath(wanted);
  const folder = join(home, 'postgres');
  const owner = await serverOwner(folder);
  if (!owner) return { home, folder, owner };
  const above = await closedFolder(dirname(home), owner);
  if (!above) {
    await openFolder(home, owner);
    return { home, folder, owner };
  }
  if (explicit) {
    throw new StartError(
      `The database runs as an unprivileged user, who cannot enter ${above}: choose a DATA_DIR outside of it, or start Troupe as the user who owns it.`,
    );
  }
  const shared = join(SHARED_ROOT, sha256Hex(home).slice(0, 16));
  await makeFolder(shared);
  const sharedFolder = join(shared, 'postgres');
  const sharedOwner = (await serverOwner(sharedFolder)) ?? owner;
  await openFolder(shared, sharedOwner);
  return { home: shared, folder: sharedFolder, owner: sharedOwner };
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    throw new StartError(
      `The data folder ${folder} cannot be made (${(cause as Error).message}): set another DATA_DIR.`,
      {
        cause,
      },
    );
  }
}

/** DATA_DIR itself lets the server through, not look around; secrets in it are readable by us alone. */
async function openFolder(folder: string, owner: Owner): Promise<void> {
  const { mode } = await stat(folder);
  if (!(await canEnter(folder, owner))) await chmod(folder, (mode & 0o777) | 0o011);
}

/** Only the server's user and we may open the folder that holds its socket. */
export async function socketFolder(home: string, owner: Owner | undefined): Promise<string> {
  const inHome = join(home, 'run');
  const fits = Buffer.byteLength(join(inHome, '.s.PGSQL.5432.lock')) <= LONGEST_SOCKET;
  const folder = fits ? inHome : await mkdtemp(join(tmpdir(), 'troupe-'));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  if (owner) await chown(folder, owner.uid, owner.gid);
  return folder;
}
