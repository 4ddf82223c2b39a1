import { constants } from 'node:fs';
import { lstat, mkdir, open, realpath, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { sandboxOwner } from '../sandbox/sandbox-user.ts';

/**
 * Paths inside a workspace, and no way out: not by `..`, not by an absolute path, not by a link, and not by a link that
 * a running command puts in place between the check and the use. Folders are opened one after another without
 * following links, and what is done is done below the opened folder, not below a name.
 */

export class OutsideWorkspace extends Error {
  override readonly name = 'OutsideWorkspace';

  constructor(given: string) {
    super(`${given} is outside of the workspace`);
  }
}

export interface Place {
  /** A path of the opened folder that stays right whatever happens to its name. */
  folder: string;
  /** The last part of the path; empty: the folder itself is meant. */
  name: string;
  full: string;
}

export interface Jail {
  /** Opens the folder that holds `given` for as long as `work` takes. */
  within: <T>(given: string, work: (place: Place) => Promise<T>, options?: { create?: boolean }) => Promise<T>;
}

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const MAX_LINKS = 8;
/** Where commands in the sandbox see the workspace. */
const MOUNTED = '/workspace';

const isLinux = process.platform === 'linux';
const folderPath = (handle: FileHandle, real: string): string => (isLinux ? `/proc/self/fd/${handle.fd}` : real);

async function descend(
  jail: { root: string; owner: number | undefined },
  given: string,
  names: string[],
  create: boolean,
  links: number,
): Promise<{ handle: FileHandle; folder: string }> {
  if (links < 0) throw new OutsideWorkspace(given);
  const realRoot = await realpath(jail.root);
  let real = realRoot;
  let handle = await open(realRoot, O_RDONLY | O_DIRECTORY);
  for (const [index, name] of names.entries()) {
    const here = path.join(folderPath(handle, real), name);
    try {
      const stat = await lstat(here).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' && create) return undefined;
        throw error;
      });
      // Another may make it at the same moment; that it is a folder is looked at when it is opened.
      if (!stat)
        await mkdir(here, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'EEXIST') throw error;
        });
      if (stat?.isSymbolicLink()) {
        const target = path.relative(realRoot, await realpath(here));
        if (target === '..' || target.startsWith(`..${path.sep}`) || path.isAbsolute(target))
          throw new OutsideWorkspace(given);
        const rest = [...target.split(path.sep).filter(Boolean), ...names.slice(index + 1)];
        await handle.close();
        return await descend(jail, given, rest, create, links - 1);
      }
      const next = await open(here, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (!stat && jail.owner !== undefined) await next.chown(jail.owner, jail.owner);
      await handle.close();
      handle = next;
      real = path.join(real, name);
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
  }
  return { handle, folder: folderPath(handle, real) };
}

/** `owner`: of folders that are made; left out: ours. */
export function createJail(root: string, owner = sandboxOwner()): Jail {
  function parts(given: string): string[] {
    if (given.includes('\0')) throw new OutsideWorkspace(given.replaceAll('\0', ''));
    const plain = given === MOUNTED || given.startsWith(`${MOUNTED}/`) ? given.slice(MOUNTED.length + 1) : given;
    const normal = path.posix.normalize(plain || '.');
    if (path.posix.isAbsolute(normal) || normal === '..' || normal.startsWith('../')) throw new OutsideWorkspace(given);
    return normal.split('/').filter((part) => part !== '' && part !== '.');
  }

  async function within<T>(
    given: string,
    work: (place: Place) => Promise<T>,
    options: { create?: boolean } = {},
  ): Promise<T> {
    const all = parts(given);
    const name = all.at(-1) ?? '';
    const { handle, folder } = await descend(
      { root, owner },
      given,
      all.slice(0, -1),
      options.create ?? false,
      MAX_LINKS,
    );
    try {
      return await work({ folder, name, full: name === '' ? folder : path.join(folder, name) });
    } finally {
      await handle.close();
    }
  }

  return { within };
}
