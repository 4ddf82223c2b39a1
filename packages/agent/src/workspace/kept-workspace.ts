import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { CopyLost } from './copy-store.ts';
import type { Copy } from './copy.ts';
import type { Workspace } from './workspace.ts';

/**
 * A workspace that is kept in the blob store, through its copy on this disk. `tool`: what a call changes is stored when
 * it is over, under the lease of its session. `person`: at once, and the newest is asked for before anything is shown.
 */
export function keptWorkspace(inner: Workspace, copy: Copy, whose: 'tool' | 'person'): Workspace {
  const ready = readyFor(copy, whose);

  const reads =
    <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      await ready();
      return work(...args);
    };

  const writes = writing(inner, copy, whose);

  return {
    root: inner.root,
    owner: inner.owner,
    // Asked again and again while a program runs.
    room: inner.room,
    ready,
    touched: () => copy.touched(),
    read: reads(inner.read),
    readBytes: reads(inner.readBytes),
    look: reads(inner.look),
    browse: reads(inner.browse),
    find: reads(inner.find),
    extract: reads(inner.extract),
    preview: reads(inner.preview),
    gather: reads(inner.gather),
    open: async (file, work) => {
      await ready();
      return inner.open(file, work);
    },
    write: writes(inner.write, (_, file) => file),
    edit: writes(inner.edit, (_, file) => file),
    put: writes(inner.put, ({ path: stored }) => stored),
    makeFolder: writes(inner.makeFolder, (_, folder) => folder),
    move: writes(inner.move, (_, _from, to) => to, first),
    remove: writes(inner.remove, nothing, first),
  };
}

const readyFor = (copy: Copy, whose: 'tool' | 'person') => (whose === 'tool' ? copy.ready : copy.refresh);
const first = (target: string): string => target;
const nothing = (): undefined => undefined;

function writing(inner: Workspace, copy: Copy, whose: 'tool' | 'person') {
  const ready = readyFor(copy, whose);
  /** What a call with these arguments, and this result, has written and removed. */
  return <Args extends unknown[], T>(
    work: (...args: Args) => Promise<T>,
    written: (result: T, ...args: Args) => string | undefined,
    removed: (...args: Args) => string | undefined = nothing,
  ) =>
    async (...args: Args): Promise<T> => {
      await ready();
      const losses = copy.losses();
      const result = await work(...args).catch((error: unknown) => {
        // Nobody knows how far it came.
        copy.touched();
        throw error;
      });
      const [from, to] = [removed(...args), written(result, ...args)];
      if (from !== undefined) copy.touched(await placeOf(inner.root, from));
      if (to !== undefined) copy.written(await placeOf(inner.root, to));
      if (whose === 'person') await copy.keep();
      if (copy.losses() !== losses) throw new CopyLost();
      return result;
    };
}

/** Where something really is that was named by a path, links followed; undefined: nobody can tell. */
async function placeOf(root: string, given: string): Promise<string | undefined> {
  const plain = path.posix.normalize(given.replace(/^\/workspace(?=\/|$)/, '.')).replace(/\/+$/, '');
  if (plain === '.' || plain.startsWith('..') || path.posix.isAbsolute(plain)) return undefined;
  const [top, folder] = await Promise.all(
    [root, path.join(root, path.posix.dirname(plain))].map((one) => realpath(one).catch(() => undefined)),
  );
  if (top === undefined || folder === undefined) return undefined;
  const inside = path.relative(top, folder);
  if (inside.startsWith('..')) return undefined;
  return path.posix.join(inside, path.posix.basename(plain)).toWellFormed();
}
