import { appendFile, lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { TreeFull, type BlobFence } from '@troupe/db';
import type { Log } from '@troupe/kernel';
import { isElsewhere, lay, patch } from './copy-files.ts';
import { linesOf, type IndexLine } from './copy-index.ts';
import { CopyLost, storeFolder, Superseded, Vanished, type StoreDeps } from './copy-store.ts';
import { removeTree } from './remove-tree.ts';
import { WorkspaceError } from './workspace-files.ts';

/**
 * A workspace on this machine's disk, for the time that this process lives, of one that is kept in the blob store. It is
 * laid out when a tool first needs it; what others have stored since is taken over before a tool looks, and what a tool
 * changed is stored before the step is recorded. What is not stored is nobody's: it goes with the process.
 */
export interface Copy {
  readonly root: string;
  /** The newest that is stored is here; asks the store. */
  refresh: () => Promise<void>;
  /** The same, unless nothing newer was heard of. */
  ready: () => Promise<void>;
  /** Something was, or may have been, written or removed: there, below it, or anywhere. */
  touched: (where?: string) => void;
  /** Something was written there, which is not kept unless it is still there then. */
  written: (where?: string) => void;
  /** Stores what was touched. Throws Superseded when the session was taken over: then what was written is undone. */
  keep: (fence?: BlobFence) => Promise<void>;
  /** Another number than before: what was written meanwhile, and not kept yet, is lost. */
  losses: () => number;
  /** A version that is stored, as the session's log was told. */
  heard: (version: number) => void;
  /** Nothing was heard for a while. */
  unsure: () => void;
  usedAt: () => number;
  /** Takes it off the disk; it is laid out again when it is needed. False: something is not stored. */
  drop: () => Promise<boolean>;
  /** Takes it off the disk, whatever is in it. */
  forget: () => Promise<void>;
}

export interface CopyDeps extends StoreDeps {
  /** Where it is laid out; its index is beside. */
  root: string;
  /** A folder of earlier days, which is stored when nothing is. */
  before?: string;
  log: Log;
}

interface State {
  /** Of what is on the disk; undefined: nothing is. */
  version: number | undefined;
  /** The newest that was heard of; undefined: nobody knows. */
  newest: number | undefined;
  touched: Set<string>;
  /** Where something was written, and nobody has removed it. */
  there: Set<string>;
  /** How often something was lost with the disk before it was stored. */
  losses: number;
}

const EVERYWHERE = '';
/** What is left of a folder of earlier days once it is stored. */
const ADOPTED = '.stored';
const TOO_LARGE = 'Not kept: the files are larger, or more, than can be. Remove some.';

const indexOf = (root: string): string => `${root}.index`;
/** Takes a copy and its index off the disk. */
async function clear(root: string): Promise<void> {
  await rm(indexOf(root), { force: true });
  if (await isThere(root)) await removeTree(root);
}

const isThere = async (file: string): Promise<boolean> => Boolean(await lstat(file).catch(() => undefined));

/** A disk can be emptied under a process that lives. */
const isLaidOut = async (root: string): Promise<boolean> => (await isThere(root)) && (await isThere(indexOf(root)));

/** From the store to the disk. */
function taking(deps: CopyDeps, state: State) {
  const { tree, root, before, log } = deps;
  const index = indexOf(root);
  const noted = (lines: IndexLine[]): Promise<void> => appendFile(index, linesOf(lines));
  const know = (version: number): void => {
    state.version = version;
    state.newest = Math.max(state.newest ?? 0, version);
  };

  /** Stores a folder that was kept on this machine alone. */
  async function adopt(folder: string): Promise<void> {
    const list = `${root}.adopted`;
    await writeFile(list, '', { mode: 0o600 });
    const problem = await storeFolder(deps, { folder, index: list });
    if (problem !== undefined) log.warn({ folder, problem }, 'not all of a workspace could be stored');
    await rm(list, { force: true });
    await rename(folder, folder + ADOPTED);
    log.info({ folder: folder + ADOPTED }, 'a workspace was brought into the blob store; the old folder can go');
  }

  async function layOut(): Promise<void> {
    await mkdir(path.dirname(root), { recursive: true, mode: 0o700 });
    if (before !== undefined && (await isThere(before)) && !(await tree.state())) await adopt(before);
    const version = (await tree.state())?.version ?? 0;
    await clear(root);
    await clear(`${root}.coming`);
    await writeFile(index, '', { mode: 0o600 });
    await lay(tree, `${root}.coming`, root, noted);
    untouch(state);
    know(version);
  }

  const layAnew = (): Promise<void> => (lose(state), layOut());
  /** Takes over what others have stored; what has version `but` is ours. */
  async function pull(but?: number): Promise<void> {
    const found = await tree.state();
    const since = state.version;
    if (found?.version === since) return know(since ?? 0);
    const isOld = since !== undefined && since < (found?.pruned ?? 0);
    if (since === undefined || (isOld && but === undefined)) return layAnew();
    // Another folder took its place; what is being stored goes there, and the rest is fetched when it is next looked at.
    if (isOld) return void (state.newest = undefined);
    try {
      for await (const page of tree.news(since))
        await patch(
          tree,
          root,
          page.filter(({ version }) => version !== but),
          noted,
        );
    } catch (error) {
      if (!isElsewhere(error)) throw error;
      return layAnew();
    }
    know(found?.version ?? 0);
  }

  return { layOut, pull, know };
}

const untouched = (): State => ({
  version: undefined,
  newest: undefined,
  touched: new Set(),
  there: new Set(),
  losses: 0,
});

function untouch(state: State): void {
  state.touched = new Set();
  state.there = new Set();
}

function touch(state: State, where: string): void {
  state.touched.add(where);
  for (const one of state.there)
    if (where === EVERYWHERE || one === where || one.startsWith(`${where}/`)) state.there.delete(one);
}

function write(state: State, where: string): void {
  state.touched.add(where);
  if (where !== EVERYWHERE) state.there.add(where);
}

/** What was written is gone with the disk, and all who were writing are told; what is stored is laid out again. */
function lose(state: State): void {
  if (state.touched.size > 0) state.losses += 1;
  untouch(state);
  state.version = undefined;
}

/** From the disk to the store. */
function keeping(deps: CopyDeps, state: State, { layOut, pull, know }: ReturnType<typeof taking>) {
  const { root } = deps;

  /** What was stored is here already; what others stored before it is not. */
  async function follow({ before, version }: { before: number; version: number }): Promise<void> {
    if (before === state.version) know(version);
    else await pull(version);
  }

  return async (fence?: BlobFence): Promise<void> => {
    if (state.touched.size === 0) return;
    // It could not be laid out again.
    if (state.version === undefined) {
      lose(state);
      throw new CopyLost();
    }
    const { touched: places, there } = state;
    untouch(state);
    const only = places.has(EVERYWHERE) ? undefined : [...places];
    try {
      const storing = { folder: root, index: indexOf(root), only, there: [...there], fence, onStored: follow };
      const problem = await storeFolder(deps, storing);
      if (problem !== undefined) throw new WorkspaceError(problem);
    } catch (error) {
      for (const place of places) state.touched.add(place);
      // Said once is enough.
      if (!(error instanceof Vanished)) for (const place of there) state.there.add(place);
      if (error instanceof CopyLost) lose(state);
      if (error instanceof TreeFull) throw new WorkspaceError(TOO_LARGE, { cause: error });
      // Nobody was told that it is there.
      if (error instanceof Superseded) await layOut();
      throw error;
    }
  };
}

/** One after the other: whoever stores and whoever takes over both write the index. */
function createLine() {
  let usedAt = Date.now();
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const use = (): void => void (usedAt = Date.now());

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    use();
    waiting += 1;
    const done = turn.then(work);
    turn = done.catch(() => undefined).finally(() => void (waiting -= 1));
    return done;
  }

  return { inTurn, use, waiting: () => waiting, usedAt: () => usedAt };
}

export function createCopy(deps: CopyDeps): Copy {
  const { root, log } = deps;
  const state = untouched();
  const { inTurn, waiting, use, usedAt } = createLine();
  const took = taking(deps, state);
  const keepNow = keeping(deps, state, took);

  const isCurrent = (): boolean =>
    state.version !== undefined && state.newest !== undefined && state.newest <= state.version;

  async function catchUp(): Promise<void> {
    if (state.version !== undefined && !(await isLaidOut(root))) lose(state);
    if (state.version === undefined) return took.layOut();
    if (isCurrent()) return;
    // What is not stored yet is newer than what is.
    await keepNow().catch((err: unknown) => log.warn({ err, root }, 'files could not be stored'));
    await took.pull();
  }

  async function takeOff(): Promise<void> {
    state.version = undefined;
    untouch(state);
    await clear(root);
  }

  return {
    root,
    refresh: () =>
      inTurn(() => {
        state.newest = undefined;
        return catchUp();
      }),
    ready: async () => {
      use();
      if (!isCurrent() || !(await isLaidOut(root))) await inTurn(catchUp);
    },
    touched: (where = EVERYWHERE) => touch(state, where),
    written: (where = EVERYWHERE) => write(state, where),
    // What somebody else is just storing may fail, and is then still to be stored.
    keep: (fence) => (state.touched.size + waiting() === 0 ? Promise.resolve() : inTurn(() => keepNow(fence))),
    losses: () => state.losses,
    heard: (version) => void (state.newest = Math.max(state.newest ?? 0, version)),
    unsure: () => void (state.newest = undefined),
    usedAt,
    drop: () => inTurn(async () => state.touched.size === 0 && takeOff().then(() => true)),
    forget: () => inTurn(takeOff),
  };
}
