import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

/** Compares the archive of a package with what it must be, and writes what is in it. Nothing of it is run. */

export interface Unpacking {
  file: string;
  /** A folder that is not there yet, or only has packages below it. */
  target: string;
  /** In the form `sha512-…`; one of several is enough, the strongest counts. */
  integrity: string;
  mostBytes: number;
  mostFiles: number;
}

export interface Unpacked {
  bytes: number;
  files: number;
  /** By the strongest sum, whatever it was compared by. */
  integrity: string;
}

const BLOCK = 512;
const LONGEST_PATH = 400;
const DEEPEST = 40;
const SUMS = ['sha512', 'sha384', 'sha256', 'sha1'] as const;

/** Told apart by the caller: the contents are others. */
export const OTHER_CONTENTS = 'EINTEGRITY';

function compare(bytes: Buffer, integrity: string): void {
  const given = integrity.trim().split(/\s+/);
  const sum = SUMS.find((one) => given.some((part) => part.startsWith(`${one}-`)));
  const expected = given.filter((part) => sum !== undefined && part.startsWith(`${sum}-`));
  const found = sum && `${sum}-${createHash(sum).update(bytes).digest('base64')}`;
  if (found !== undefined && expected.some((part) => part.split('?')[0] === found)) return;
  throw Object.assign(new Error('the contents are others than were promised'), { code: OTHER_CONTENTS });
}

function unzipped(bytes: Buffer, most: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: most });
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new Error(isLarge ? 'the package is too large' : 'the archive is damaged', { cause: error });
  }
}

const textAt = (block: Buffer, from: number, length: number): string => {
  const part = block.subarray(from, from + length);
  const end = part.indexOf(0);
  return part.toString('utf8', 0, end === -1 ? length : end);
};
const numberAt = (block: Buffer, from: number, length: number): number => {
  const value = Number.parseInt(textAt(block, from, length).trim() || '0', 8);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('the archive is damaged');
  return value;
};

interface Item {
  path: string;
  content: Buffer;
  isProgram: boolean;
}

/** Records of `length key=value`; only the path counts here. */
const paxPath = (text: string): string | undefined => /(?:^|\n)\d{1,8} path=([^\n]{1,1000})\n/.exec(text)?.[1];

function* filesOf(tar: Buffer): Generator<Item> {
  let long: string | undefined;
  for (let at = 0; at + BLOCK <= tar.length;) {
    const head = tar.subarray(at, at + BLOCK);
    if (head.every((byte) => byte === 0)) return;
    const size = numberAt(head, 124, 12);
    const content = tar.subarray(at + BLOCK, at + BLOCK + size);
    if (content.length !== size) throw new Error('the archive ends too early');
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    const kind = textAt(head, 156, 1);
    if (kind === 'x') long = paxPath(content.toString('utf8'));
    else if (kind === 'L') long = textAt(content, 0, Math.min(size, 1000));
    else if (kind === '0' || kind === '' || kind === '7') {
      const prefix = textAt(head, 257, 5) === 'ustar' ? textAt(head, 345, 155) : '';
      const name = long ?? (prefix === '' ? textAt(head, 0, 100) : `${prefix}/${textAt(head, 0, 100)}`);
      yield { path: name, content, isProgram: (numberAt(head, 100, 8) & 0o111) !== 0 };
      long = undefined;
    } else if (kind !== 'g') long = undefined; // Folders make themselves; links and devices are left out, as npm does.
  }
}

/** Without the first folder, whatever it is called. Throws where it would lead out. */
function insideOf(given: string): string | undefined {
  const parts = given.split('/').filter((part) => part !== '' && part !== '.');
  if (given.startsWith('/') || given.includes('\0') || given.length > LONGEST_PATH || parts.length > DEEPEST)
    throw new Error('the archive has a path that is not taken');
  if (parts.includes('..')) throw new Error('the archive has a path that leads out of it');
  return parts.length > 1 ? parts.slice(1).join('/') : undefined;
}

/** Whoever runs the program is somebody else: folders can be looked into, whatever the mask of this process says. */
function createFolders(): (folder: string) => void {
  const made = new Set<string>();
  return function make(folder) {
    if (made.has(folder)) return;
    const first = mkdirSync(folder, { recursive: true });
    made.add(folder);
    if (first === undefined) return;
    for (let at = folder; at.startsWith(first); at = path.dirname(at)) {
      chmodSync(at, 0o755);
      made.add(at);
    }
  };
}

export function run({ file, target, integrity, mostBytes, mostFiles }: Unpacking): Unpacked {
  const packed = readFileSync(file);
  compare(packed, integrity);
  const done: Unpacked = {
    bytes: 0,
    files: 0,
    integrity: `sha512-${createHash('sha512').update(packed).digest('base64')}`,
  };
  const folders = createFolders();
  folders(target);
  const written = new Set<string>();
  // What it takes in the archive is a little more than what its files have.
  for (const item of filesOf(unzipped(packed, mostBytes * 2 + BLOCK * mostFiles))) {
    const inside = insideOf(item.path);
    if (inside === undefined) continue;
    done.bytes += item.content.length;
    done.files += 1;
    if (done.bytes > mostBytes) throw new Error('the package is too large');
    if (done.files > mostFiles) throw new Error('the package has too many files');
    const to = path.join(target, inside);
    folders(path.dirname(to));
    // Of two files with one name the later counts; the earlier cannot be written to any more.
    if (written.has(to)) rmSync(to);
    written.add(to);
    writeFileSync(to, item.content, { flag: 'wx' });
    chmodSync(to, item.isProgram ? 0o555 : 0o444);
  }
  if (done.files === 0) throw new Error('the archive has no files');
  return done;
}
