import { constants } from 'node:fs';
import { chmod, link, lstat, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { PACKED_FILES, PACKED_MB } from '@troupe/contract';
import { defineTask, randomHex, type WorkerPool } from '@troupe/kernel';
import { createJail, type Jail, type Place } from './jail.ts';
import { removeTree } from './remove-tree.ts';
import type { Quarters, Room } from '../sandbox/quarters.ts';
import { sandboxOwner } from '../sandbox/sandbox-user.ts';
import type { Browsed, run as browse } from './tasks/browse.task.ts';
import type { run as edit } from './tasks/edit.task.ts';
import type { Extract, run as extract } from './tasks/extract.task.ts';
import type { Found, run as find } from './tasks/find.task.ts';
import type { Gathered, run as gather } from './tasks/gather.task.ts';
import type { Look, run as look } from './tasks/look.task.ts';
import type { Measure, run as measure } from './tasks/measure.task.ts';
import type { Preview, run as preview } from './tasks/preview.task.ts';
import { createWorkspaceFiles, WORKSPACE_ENTRIES, WorkspaceError } from './workspace-files.ts';

/** The files of an agent, through the jail, with bounds on what is read and written. */

type Question = Look extends infer One ? (One extends Look ? Omit<One, 'root'> : never) : never;

export interface Workspace extends Quarters {
  read: (file: string, maxBytes?: number) => Promise<string>;
  write: (file: string, content: string) => Promise<void>;
  /** Replaces texts in a file, all or none; answers why not. */
  edit: (file: string, edits: readonly { oldText: string; newText: string }[]) => Promise<string | undefined>;
  /** What is in it, in words. */
  look: (question: Question, signal?: AbortSignal) => Promise<string>;
  /** Files by pattern; throws BadPattern. `since`: what changed after it is told with a mark of its content. */
  find: (pattern: string, since: number) => Promise<Found[]>;
  /** What is in a folder, as a person browses it. */
  browse: (folder: string) => Promise<Browsed>;
  /** What a file is, and the text that a model can read of it; at most so many characters. */
  extract: (file: string, most: number) => Promise<Extract>;
  /** What a person can see of a file that is neither text nor a picture. */
  preview: (file: string) => Promise<Preview>;
  /** The files under a folder, to be packed; throws a WorkspaceError when they are too many or too large. */
  gather: (folder: string) => Promise<Gathered[]>;
  /** Opens a file for as long as `work` takes. */
  open: <T>(file: string, work: (handle: FileHandle) => Promise<T>) => Promise<T>;
  readBytes: (file: string, maxBytes: number) => Promise<Buffer>;
  /** Takes a file as it comes in; `fresh`: under a name that is free. Answers where it is. */
  put: (
    file: string,
    source: AsyncIterable<Buffer>,
    options: { maxBytes: number; fresh?: boolean },
  ) => Promise<{ path: string; bytes: number }>;
  makeFolder: (folder: string) => Promise<void>;
  /** To be called before a program works in it: what is kept elsewhere is here then. */
  ready: () => Promise<void>;
  /** A program may have written to it. */
  touched: () => void;
  move: (from: string, to: string) => Promise<void>;
  remove: (target: string) => Promise<void>;
}

export interface WorkspaceOptions {
  pool: WorkerPool;
  /** Whose it is: users share the threads fairly. */
  owner: string;
  quotaBytes?: number;
  maxEntries?: number;
  /** What is written is on the disk when that is said, not on its way there: a machine that dies would take it along. */
  lasting?: boolean;
}

const MB = 1024 * 1024;
const MAX_FILE_BYTES = 5 * MB;
const DEFAULT_QUOTA_BYTES = 1024 * MB;
/** Times what it may hold: beyond this only the tools for files may remove something. */
const SHUT = 2;

const MEASURE = defineTask<typeof measure>(new URL('./tasks/measure.task.ts', import.meta.url), 20_000);
const LOOK = defineTask<typeof look>(new URL('./tasks/look.task.ts', import.meta.url), 10_000);
const EDIT = defineTask<typeof edit>(new URL('./tasks/edit.task.ts', import.meta.url), 5_000);

const BROWSE = defineTask<typeof browse>(new URL('./tasks/browse.task.ts', import.meta.url), 10_000);
const FIND = defineTask<typeof find>(new URL('./tasks/find.task.ts', import.meta.url), 10_000);
const EXTRACT = defineTask<typeof extract>(new URL('./tasks/extract.task.ts', import.meta.url), 15_000);
const PREVIEW = defineTask<typeof preview>(new URL('./tasks/preview.task.ts', import.meta.url), 15_000);
const GATHER = defineTask<typeof gather>(new URL('./tasks/gather.task.ts', import.meta.url), 10_000);

const NAMES_TRIED = 100;

/** A file that comes in is larger than it may be. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
  constructor(maxBytes: number) {
    super(`A file may have ${Math.floor(maxBytes / MB)} MB at most`);
  }
}

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** How much the workspace holds, and whether more may come. */
function createRoom(
  root: string,
  { pool, owner, quotaBytes = DEFAULT_QUOTA_BYTES, maxEntries = WORKSPACE_ENTRIES }: WorkspaceOptions,
) {
  async function room(more = 0): Promise<Room> {
    const most = { bytes: SHUT * quotaBytes, entries: SHUT * maxEntries };
    // In a line of its own, within the owner's share: whoever keeps the other one full is measured all the same.
    const found = await pool.run(MEASURE, { folder: root, ...most }, { key: owner, lane: 'measure' });
    const { bytes, entries, hidden } = found;
    const full = whyFull({ ...found, bytes: bytes + more });
    return {
      bytes,
      entries,
      freeBytes: Math.max(0, quotaBytes - bytes),
      ...(full !== undefined && { full }),
      shut: hidden || bytes > most.bytes || entries > most.entries,
    };
  }

  function whyFull({ bytes, entries, hidden }: Measure): string | undefined {
    if (bytes > quotaBytes) return `the workspace is full (${Math.floor(quotaBytes / MB)} MB)`;
    if (entries > maxEntries) return `the workspace is full (${maxEntries} files and folders)`;
    return hidden ? 'the workspace has folders that are closed or too deep to be measured' : undefined;
  }

  async function demandRoom(more = 0): Promise<void> {
    const { full } = await room(more);
    if (full !== undefined) throw new WorkspaceError(full.replace(/^t/, 'T'));
  }

  return { room, demandRoom };
}

/** Has what is in a file, and which names are in a folder, written to the disk. */
const lastingly = {
  file: (handle: FileHandle): Promise<void> => handle.sync(),
  async folder({ folder }: Place): Promise<void> {
    await using handle = await open(folder, O_RDONLY | O_DIRECTORY);
    await handle.sync();
  },
};
const asItComes = { file: async (): Promise<void> => {}, folder: async (): Promise<void> => {} };
type Settle = typeof lastingly;

/**
 * Written beside and moved into place: never half a file, and a link there is replaced, not followed. `fresh`: under a
 * name that nobody has, also not at this moment. Answers the name.
 */
async function putInPlace(
  file: string,
  place: Place,
  fill: (handle: FileHandle) => Promise<void>,
  settle: Settle,
  fresh = false,
): Promise<string> {
  const { folder, name, full: target } = place;
  const before = await lstat(target).catch(() => undefined);
  if (name === '' || (before?.isDirectory() && !fresh)) throw new WorkspaceError(`${file} is a folder`);
  const beside = path.join(folder, `.${randomHex(8)}.part`);
  const mode = before?.isFile() && !fresh ? before.mode & 0o700 : 0o600;
  const handle = await open(beside, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, mode);
  try {
    await fill(handle);
    const uid = sandboxOwner();
    if (uid !== undefined) await handle.chown(uid, uid);
    await settle.file(handle);
    const made = fresh ? await linkFree(beside, folder, name) : name;
    if (!fresh) await rename(beside, target);
    await settle.folder(place);
    return made;
  } finally {
    await handle.close();
    await rm(beside, { force: true });
  }
}

/** plan.pdf, plan-2.pdf, … */
async function linkFree(beside: string, folder: string, wanted: string): Promise<string> {
  const { name, ext } = path.posix.parse(wanted);
  for (let number = 1; ; number += 1) {
    const end = number === 1 ? '' : number > NAMES_TRIED ? `-${randomHex(6)}` : `-${number}`;
    const tried = `${name}${end}${ext}`;
    try {
      await link(beside, path.join(folder, tried));
      return tried;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number > NAMES_TRIED + 1) throw error;
    }
  }
}

/** Takes a file as it comes in, within its own bound and what room there is. */
function createPut(within: Jail['within'], room: (more: number) => Promise<Room>, settle: Settle): Workspace['put'] {
  return async (file, source, { maxBytes, fresh }) => {
    const { full, freeBytes } = await room(1);
    if (full !== undefined) throw new WorkspaceError(full.replace(/^t/, 'T'));
    let bytes = 0;
    const fill = async (handle: FileHandle): Promise<void> => {
      for await (const chunk of source) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw new TooLarge(maxBytes);
        if (bytes > freeBytes) throw new WorkspaceError('The workspace is full');
        // All of it: a disk that is nearly full takes a part.
        await handle.writeFile(chunk);
      }
    };
    const name = await within(file, (place) => putInPlace(file, place, fill, settle, fresh), { create: true });
    return { path: path.posix.join(path.posix.dirname(path.posix.normalize(file)), name), bytes };
  };
}

/** What changes names and not what is in files. */
function createChange(
  within: Jail['within'],
  demandRoom: () => Promise<void>,
  settle: Settle,
): Pick<Workspace, 'makeFolder' | 'move' | 'remove'> {
  return {
    async makeFolder(folder) {
      await demandRoom();
      await within(path.posix.join(folder, 'x'), settle.folder, { create: true });
    },
    async move(from, to) {
      await demandRoom();
      await within(from, (source) => {
        if (source.name === '') throw new WorkspaceError('The workspace itself cannot be moved');
        const there = async (target: Place): Promise<void> => {
          await rename(source.full, target.full);
          await settle.folder(target);
          await settle.folder(source);
        };
        return within(to, there, { create: true });
      });
    },
    remove: (target) =>
      within(target, async (place) => {
        if (place.name === '') throw new WorkspaceError('The workspace itself cannot be removed');
        await lstat(place.full);
        await removeTree(place.full);
        await settle.folder(place);
      }),
  };
}

export function createWorkspace(root: string, options: WorkspaceOptions): Workspace {
  const { pool, owner } = options;
  const { within } = createJail(root);
  const { read, readBytes, open: openFile } = createWorkspaceFiles(root);
  const { room, demandRoom } = createRoom(root, options);
  const settle = options.lasting ? lastingly : asItComes;
  const change = createChange(within, demandRoom, settle);

  async function write(file: string, content: string): Promise<void> {
    const bytes = Buffer.byteLength(content);
    if (bytes > MAX_FILE_BYTES)
      throw new WorkspaceError(`More than ${MAX_FILE_BYTES / 1024} KB cannot be written at once`);
    await demandRoom(bytes);
    const fill = (handle: FileHandle): Promise<void> => handle.writeFile(content);
    await within(file, (place) => putInPlace(file, place, fill, settle), { create: true });
  }

  return {
    root,
    owner,
    read,
    write,
    readBytes,
    open: openFile,
    put: createPut(within, room, settle),
    browse: (folder) => pool.run(BROWSE, { root, folder }, { key: owner }),
    find: (pattern, since) => pool.run(FIND, { root, pattern, since, now: Date.now() }, { key: owner }),
    extract: (file, most) => pool.run(EXTRACT, { root, file, most }, { key: owner }),
    preview: (file) => pool.run(PREVIEW, { root, file }, { key: owner }),
    gather: (folder) => pool.run(GATHER, { root, folder, mostFiles: PACKED_FILES, mostMb: PACKED_MB }, { key: owner }),
    room: () => room(),
    // What is here is all that there is.
    ready: async () => {},
    touched: () => {},
    look: (question, signal) => pool.run(LOOK, { ...question, root }, { key: owner, ...(signal && { signal }) }),
    async edit(file, edits) {
      const result = await pool.run(EDIT, { text: await read(file), edits }, { key: owner });
      if ('refused' in result) return result.refused;
      await write(file, result.text);
      return undefined;
    },
    ...change,
  };
}

export async function makeWorkspace(root: string, options: WorkspaceOptions): Promise<Workspace> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  await chmod(root, 0o700);
  return createWorkspace(root, options);
}
