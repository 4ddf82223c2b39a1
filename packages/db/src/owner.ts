import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StartError } from '@troupe/kernel';

/** The user that the server runs as when root starts it: PostgreSQL refuses root. */
export interface Owner {
  uid: number;
  gid: number;
}

/** Undefined: the server runs as ourselves. An existing folder keeps its owner. */
export async function serverOwner(folder: string): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const made = await stat(folder).catch(() => undefined);
  if (made && made.uid !== 0) return { uid: made.uid, gid: made.gid };
  return nobody();
}

async function nobody(): Promise<Owner> {
  const users = await readFile('/etc/passwd', 'utf8');
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  if (!uid || !gid) {
    throw new StartError(
      'PostgreSQL does not run as root and there is no user "nobody": start Troupe as another user.',
    );
  }
  return { uid: Number(uid), gid: Number(gid) };
}

/** Whether every folder on the way lets that user through. */
export async function canEnter(folder: string, owner: Owner): Promise<boolean> {
  return (await closedFolder(folder, owner)) === undefined;
}

export async function closedFolder(folder: string, { uid, gid }: Owner): Promise<string | undefined> {
  const parent = dirname(folder);
  const above = parent === folder ? undefined : await closedFolder(parent, { uid, gid });
  if (above) return above;
  const { mode, uid: u, gid: g } = await stat(folder);
  const bit = u === uid ? 0o100 : g === gid ? 0o010 : 0o001;
  return mode & bit ? undefined : folder;
}
