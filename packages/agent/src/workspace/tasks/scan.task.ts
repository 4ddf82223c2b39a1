import { createHash } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { readdirSync, readlinkSync, renameSync, writeFileSync, type Stats } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { folderSign, linesOf, linkSign, signOf, UNSURE, type IndexLine } from '../copy-index.ts';

/**
 * What is another in a working copy than its index says. Folders are opened one in another, without following links, so
 * that no command can lead this outside while it looks. Small files are read and packed here, in the thread.
 */

export interface Scan {
  root: string;
  index: string;
  /** Begin behind this path; empty: at the start. */
  after: string;
  /** Beyond it nothing is kept. */
  mostEntries: number;
  /** Only what is, or is below, one of these; left out: everything. */
  only?: readonly string[];
  /** What was written, and nobody has removed. */
  there?: readonly string[];
}

export interface Scanned {
  path: string;
  kind: 'file' | 'folder' | 'link';
  mode: number;
  size: number;
  link?: string;
  /** What it is known by until it changes; empty: it may be changing at this moment. */
  sign: string;
  /** What the index says that it said. */
  known?: string;
  /** Of a small file. */
  chunk?: { hash: string; size: number; bytes: Uint8Array; packed: boolean };
}

export interface ScanResult {
  changed: Scanned[];
  gone: string[];
  /** How many of those that alone were wanted are not there. */
  absent: number;
  /** Whether something that was written is not there. */
  lacks?: boolean;
  /** Where the next page begins; undefined: that is all. */
  next?: string;
  /** Why not everything that is there can be kept. */
  problem?: 'many' | 'closed' | 'names';
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const SMALL_BYTES = 256 * 1024;
const PAGE_ENTRIES = 5_000;
const PAGE_BYTES = 6 * 1024 * 1024;
const MAX_DEPTH = 100;
const MAX_PATH = 3_900;
const WORTH_PACKING = 256;
/** Within it two changes of a file may bear the same time. */
const UNSURE_MS = 20;
const isLinux = process.platform === 'linux';

/** Paths in the order of the walk: part by part. */
const ordered = (path: string): string => path.replaceAll('/', '\0');
const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

interface Walk extends Scan {
  known: Map<string, { sign: string; says: string }>;
  seen: Set<string>;
  closed: string[];
  result: ScanResult;
  bytes: number;
  at: number;
}

/** Undefined: it cannot be read, because a disk was full when a line was written. */
function readIndex(file: string): { known: Map<string, { sign: string; says: string }>; lines: number } | undefined {
  const known = new Map<string, { sign: string; says: string }>();
  const lines = linesIn(readFileSync(file, 'utf8'));
  if (!lines) return undefined;
  for (const [path, sign, says] of lines)
    if (sign === undefined) known.delete(path);
    else known.set(path, { sign, says: says ?? '' });
  return { known, lines: lines.length };
}

function linesIn(text: string): IndexLine[] | undefined {
  // Whole lines only: half of one, and nothing behind it, would be read as all there is.
  if (text !== '' && !text.endsWith('\n')) return undefined;
  try {
    // Read as one list: a call for each line takes twice as long.
    return JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as IndexLine[];
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Of a log of changes, those that are of no use any more: it is read with every command. */
const MOST_HISTORY = 200;

/** A log of changes becomes a list again when it is mostly history. */
function tidy(file: string, known: Walk['known']): void {
  const lines = [...known].map(([path, { sign, says }]): IndexLine => [path, sign, says]);
  writeFileSync(`${file}.new`, linesOf(lines), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

const isWanted = ({ only }: Walk, path: string): boolean =>
  only === undefined || only.some((one) => path === one || path.startsWith(`${one}/`));

/** What is in a folder, sorted, or what of it leads to something that is wanted. */
function namesIn(walk: Walk, here: string, path: string): string[] {
  if (isWanted(walk, path) || walk.only === undefined) return readdirSync(here).sort();
  const below = path === '' ? '' : `${path}/`;
  const names = walk.only
    .filter((one) => one.startsWith(below))
    .map((one) => one.slice(below.length).split('/', 1)[0]!);
  return [...new Set(names)].sort();
}

/** Changed so recently that the next change may bear the same time. */
const isFresh = ({ at }: Walk, { mtimeMs, ctimeMs }: Stats): boolean => Math.max(mtimeMs, ctimeMs) > at - UNSURE_MS;

function describe(walk: Walk, full: string, path: string, stat: Stats): Scanned | undefined {
  const mode = stat.mode & 0o777;
  if (stat.isDirectory()) return { path, kind: 'folder', mode, size: 0, sign: folderSign(mode) };
  if (stat.isSymbolicLink()) {
    const link = readlinkSync(full);
    return { path, kind: 'link', mode: 0o777, size: 0, link, sign: linkSign(link) };
  }
  if (!stat.isFile()) return undefined;
  return { path, kind: 'file', mode, size: stat.size, sign: isFresh(walk, stat) ? UNSURE : signOf(stat) };
}

/** What a small file says. Undefined: it is another by now, and is looked at again. */
function readSmall(full: string, size: number): Scanned['chunk'] {
  const handle = openSync(full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (!fstatSync(handle).isFile()) return undefined;
    const content = Buffer.alloc(size);
    const length = size === 0 ? 0 : readSync(handle, content, 0, size, 0);
    const said = content.subarray(0, length);
    const hash = createHash('sha256').update(said).digest('hex');
    const packed = length < WORTH_PACKING ? said : zstdCompressSync(said);
    // Copied: what goes to another thread takes the whole of its memory with it.
    return packed.length < length * 0.9
      ? { hash, size: length, bytes: new Uint8Array(packed), packed: true }
      : { hash, size: length, bytes: new Uint8Array(said), packed: false };
  } finally {
    closeSync(handle);
  }
}

function note(walk: Walk, full: string, path: string, stat: Stats): void {
  const found = describe(walk, full, path, stat);
  if (!found) return;
  walk.seen.add(path);
  const before = walk.known.get(path);
  if (before !== undefined && before.sign !== UNSURE && before.sign === found.sign) return;
  if (before !== undefined && before.says !== '') found.known = before.says;
  if (found.kind === 'file' && found.size <= SMALL_BYTES) {
    const chunk = readSmall(full, found.size);
    if (!chunk) return;
    found.size = chunk.size;
    found.chunk = chunk;
    walk.bytes += chunk.bytes.length;
  }
  walk.result.changed.push(found);
}

/** False: the page is full. */
function folder(walk: Walk, handle: number, real: string, path: string, depth: number): boolean {
  const here = isLinux ? `/proc/self/fd/${handle}` : real;
  const cursor = walk.after === '' ? undefined : walk.after.split('/');
  const isOnCursor = cursor !== undefined && (path === '' || `${walk.after}/`.startsWith(`${path}/`));
  const from = isOnCursor ? cursor[depth] : undefined;
  for (const name of namesIn(walk, here, path)) {
    if (from !== undefined && name < from) continue;
    const at = path === '' ? name : `${path}/${name}`;
    if (!entry(walk, `${here}/${name}`, `${real}/${name}`, at, depth, name === from)) return false;
  }
  return true;
}

/**
 * Whether it is the file that the index knows. Asked by its own path, which takes half as long as by the open folder: nothing
 * is read there, and where a command leads that path elsewhere, there is another file than the known one.
 */
function isAsKnown(walk: Walk, real: string, path: string): boolean {
  const before = walk.known.get(path);
  if (before === undefined || before.says === '' || before.sign === UNSURE) return false;
  const stat = lstatSync(real, { throwIfNoEntry: false });
  if (!stat?.isFile() || isFresh(walk, stat) || signOf(stat) !== before.sign) return false;
  walk.seen.add(path);
  return true;
}

function entry(walk: Walk, full: string, real: string, path: string, depth: number, isPassed: boolean): boolean {
  let stat: Stats;
  try {
    if (!isPassed && isWanted(walk, path) && isAsKnown(walk, real, path)) return true;
    stat = lstatSync(full);
    if (Buffer.byteLength(path) > MAX_PATH) throw Object.assign(new Error('too long'), { code: 'ENAMETOOLONG' });
    if (!isPassed && isWanted(walk, path)) note(walk, full, path, stat);
  } catch (error) {
    return missed(walk, path, error);
  }
  const isFull = walk.result.changed.length >= PAGE_ENTRIES || walk.bytes >= PAGE_BYTES;
  if (isFull) walk.result.next = path;
  if (isFull) return false;
  if (!stat.isDirectory()) return true;
  return depth >= MAX_DEPTH ? close(walk, path) : descend(walk, full, real, path, depth);
}

function descend(walk: Walk, full: string, real: string, path: string, depth: number): boolean {
  let handle: number;
  try {
    handle = openSync(full, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    return missed(walk, path, error);
  }
  try {
    return folder(walk, handle, real, path, depth + 1);
  } finally {
    closeSync(handle);
  }
}

/** Nobody can tell what is in it: what was known of it stays as it is. */
function close(walk: Walk, path: string): true {
  walk.closed.push(path);
  walk.seen.add(path);
  walk.result.problem ??= 'closed';
  return true;
}

function missed(walk: Walk, path: string, error: unknown): true {
  const code = codeOf(error);
  if (['EACCES', 'EPERM', 'ENAMETOOLONG'].includes(code)) return close(walk, path);
  if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) throw error;
  // A name that is no text is read as another, which is not there.
  if (path.includes('\uFFFD')) walk.result.problem ??= 'names';
  return true;
}

/** Those in the part that was walked that were not seen there. */
function notSeen(walk: Walk, paths: Iterable<string>): string[] {
  const from = ordered(walk.after);
  const to = walk.result.next === undefined ? undefined : ordered(walk.result.next);
  return [...paths].filter((path) => {
    if (walk.seen.has(path)) return false;
    const at = ordered(path);
    if ((walk.after !== '' && at <= from) || (to !== undefined && at > to)) return false;
    return isWanted(walk, path) && !walk.closed.some((one) => path.startsWith(`${one}/`));
  });
}

/** Whether something was there, as a page that begins behind it cannot tell. */
const isIn = ({ seen, after }: Walk, path: string): boolean => after !== '' || seen.has(path);

/** Whether there are more entries than can be kept; stops once it knows. */
function isTooMany({ root, mostEntries }: Scan): boolean {
  let entries = 0;
  const waiting = [{ at: root, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined && entries <= mostEntries; next = waiting.pop()) {
    const { at, depth } = next;
    try {
      for (const found of readdirSync(at, { withFileTypes: true })) {
        entries += 1;
        if (found.isDirectory() && depth < MAX_DEPTH) waiting.push({ at: `${at}/${found.name}`, depth: depth + 1 });
      }
    } catch {
      // The walk itself finds out what is the matter with it.
    }
  }
  return entries > mostEntries;
}

/** Undefined: the copy itself is gone, and says nothing. */
export function run(given: Scan): ScanResult | undefined {
  if (!existsSync(given.index) || !existsSync(given.root)) return undefined;
  const found = readIndex(given.index);
  if (!found) return undefined;
  const { known, lines } = found;
  if (lines - known.size > Math.max(MOST_HISTORY, known.size / 2)) tidy(given.index, known);
  const result: ScanResult = { changed: [], gone: [], absent: 0 };
  const start = { known, seen: new Set<string>(), closed: [], result, bytes: 0, at: Date.now() };
  const walk: Walk = { ...given, ...start };
  const handle = openSync(given.root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    folder(walk, handle, given.root, '', 0);
  } finally {
    closeSync(handle);
  }
  if (!existsSync(given.index) || !existsSync(given.root)) return undefined;
  // Only what is more than a page can be too much.
  if (given.after === '' && result.next !== undefined && isTooMany(given))
    return { changed: [], gone: [], absent: 0, problem: 'many' };
  const absent = given.only?.filter((path) => !isIn(walk, path)).length ?? 0;
  const lacks = notSeen(walk, given.there ?? []).length > 0;
  return { ...result, gone: notSeen(walk, known.keys()), absent, lacks };
}
