import { appendFile, lstat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { digestOf, TreeFull, type BlobFence, type BlobTree } from '@troupe/db';
import { defineTask, type WorkerPool } from '@troupe/kernel';
import { takeLarge } from './copy-files.ts';
import { linesOf, saysOf, type IndexLine } from './copy-index.ts';
import type { run as scan, Scan, ScanResult, Scanned } from './tasks/scan.task.ts';
import { WORKSPACE_ENTRIES, WorkspaceError } from './workspace-files.ts';

/** Finds what is another in a folder than its index says, and stores it. */

/** The session belongs to another process by now. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

/** The folder is not there any more: a disk was emptied under a process that lives. */
export class CopyLost extends WorkspaceError {
  constructor() {
    super('The files are gone from this machine, and are fetched anew');
  }
}

/** Something took it away before it was stored: a command, or a disk that is being emptied. */
export class Vanished extends WorkspaceError {
  constructor() {
    super('Not kept: what was written is not there any more.');
  }
}

export interface Storing {
  folder: string;
  /** Its index. */
  index: string;
  /** Only what is, or is below, one of these. */
  only?: readonly string[] | undefined;
  /** What was written, and nobody has removed. */
  there?: readonly string[];
  fence?: BlobFence | undefined;
  /** After each page. */
  onStored?: (stored: { before: number; version: number }) => Promise<void>;
}

export interface StoreDeps {
  tree: BlobTree;
  pool: WorkerPool;
  owner: string;
  bounds?: { bytes: number; entries: number };
}

type Taken = Scanned & { parts: readonly string[]; digest: string };

/** A little more than a workspace may hold: what is too much is noticed a little late. */
const BOUNDS = { bytes: 2 * 1024 ** 3, entries: WORKSPACE_ENTRIES + 20_000 };
const SCAN = defineTask<typeof scan>(new URL('./tasks/scan.task.ts', import.meta.url), 60_000);
const TRIES = 3;

const PROBLEMS: Record<NonNullable<ScanResult['problem']>, string> = {
  many: 'Not kept: there are more files and folders than can be. Remove some.',
  closed: 'Not everything was kept: there are files or folders that cannot be opened, or are too deep.',
  names: 'Not everything was kept: there are names that are not text.',
};

/** Longer than it takes to remove a workspace together with its index. */
const GOING_MS = 15;

/** Whether what is not there any more went with the folder: whoever empties a disk removes one thing after the other. */
async function isGoing({ gone, absent }: ScanResult, { folder, index }: Storing): Promise<boolean> {
  if (gone.length + absent === 0) return false;
  await delay(GOING_MS);
  const left = await Promise.all([folder, index].map((one) => lstat(one).catch(() => undefined)));
  return left.includes(undefined);
}

/** Answers why not everything was stored. */
export async function storeFolder(deps: StoreDeps, storing: Storing): Promise<string | undefined> {
  const { pool, owner, bounds = BOUNDS } = deps;
  const { folder: root, index, only, there = [] } = storing;
  let problem: string | undefined;
  for (let after: string | undefined = ''; after !== undefined;) {
    const given: Scan = { root, index, after, mostEntries: bounds.entries, there, ...(only && { only }) };
    const page: ScanResult | undefined = await pool.run(SCAN, given, { key: owner, lane: 'measure' });
    if (!page || (await isGoing(page, storing))) throw new CopyLost();
    if (page.lacks) throw new Vanished();
    const found = await storePage(deps, page, storing);
    problem ??= found ?? (page.problem && PROBLEMS[page.problem]);
    after = page.next;
  }
  return problem;
}

async function storePage(deps: StoreDeps, page: ScanResult, storing: Storing): Promise<string | undefined> {
  const { changed, gone } = page;
  const { folder, index, fence, onStored } = storing;
  if (changed.length + gone.length === 0) return undefined;
  for (let tried = 1; ; tried += 1) {
    const { taken, isClosed } = await takeAll(deps, folder, changed);
    const news = taken.filter(({ kind, known, mode, digest }) => kind !== 'file' || known !== saysOf(mode, digest));
    const stored = news.length + gone.length > 0 ? await store(deps, news, gone, fence) : undefined;
    if (stored?.status === 'lost') throw new Superseded('another process works on this session now');
    if (stored?.status === 'missing' && tried < TRIES) continue;
    if (stored?.status === 'missing') throw new Error('pieces of files went while they were stored');
    const lines = taken.map(({ path, sign, mode, digest }): IndexLine => [path, sign, saysOf(mode, digest)]);
    await appendFile(index, linesOf([...lines, ...gone.map((path): IndexLine => [path])]));
    if (stored?.status === 'stored') await onStored?.(stored);
    return isClosed ? PROBLEMS.closed : undefined;
  }
}

/** What is in large files is stored on the way. */
async function takeAll({ tree, bounds = BOUNDS }: StoreDeps, folder: string, changed: readonly Scanned[]) {
  // Before any of it is read: holes take no room on a disk, and a thousand files of nothing else would be read for minutes.
  if (changed.reduce((sum, { size }) => sum + size, 0) > bounds.bytes) throw new TreeFull();
  const taken: Taken[] = [];
  let isClosed = false;
  for (const found of changed) {
    if (found.kind !== 'file') {
      taken.push({ ...found, parts: [], digest: '' });
      continue;
    }
    const { chunk } = found;
    const large = chunk ? undefined : await takeLarge(tree, folder, found.path);
    if (large === 'closed') isClosed = true;
    if (large === 'closed' || (!chunk && !large)) continue;
    const parts = large?.parts ?? (chunk && chunk.size > 0 ? [chunk.hash] : []);
    taken.push({ ...found, ...large, parts, digest: await digestOf(parts) });
  }
  return { taken, isClosed };
}

function store(
  { tree, bounds = BOUNDS }: StoreDeps,
  news: readonly Taken[],
  gone: readonly string[],
  fence: BlobFence | undefined,
) {
  const chunks = news.flatMap(({ chunk }) => (chunk && chunk.size > 0 ? [chunk] : []));
  const files = news.map(({ path, kind, mode, size, link, parts }) => ({
    path,
    kind,
    mode,
    size,
    parts,
    ...(link !== undefined && { link }),
  }));
  return tree.store({ chunks, files, gone }, { bounds, ...(fence && { fence }) });
}
