import { crc32, gunzipSync, inflateRawSync } from 'node:zlib';
import { SKILL_BOUNDS } from '@troupe/domain';

/**
 * What is in an archive that somebody sent: zip, tar or tar.gz. Nothing is unpacked before it is asked for, and never
 * more than was said, whatever the archive claims.
 */

export interface Entry {
  path: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  /** Unpacked, as the archive says; only reading it proves that. */
  bytes: number;
  /** Its bytes; throws an ArchiveError when there are more than `most`. */
  read: (most: number) => Buffer;
}

/** Says in a sentence why an archive is not taken. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

const MB = 1024 * 1024;
/** Of a tar.gz, unpacked: all of it must be walked over to find the skill in it. */
const TAR_BYTES = 64 * MB;
const BROKEN = 'The archive is damaged';

const tooMany = (): ArchiveError =>
  new ArchiveError(`The archive has more than ${SKILL_BOUNDS.entries.toLocaleString('en')} entries`);
const tooLarge = (path: string): ArchiveError => new ArchiveError(`${path.slice(0, 200)} is too large`);

/** Undefined: it is no archive. */
export function entriesOf(bytes: Buffer): Entry[] | undefined {
  try {
    if (bytes.length > 4 && bytes.readUInt32LE(0) === 0x04034b50) return zipEntries(bytes);
    if (bytes.length > 2 && bytes[0] === 0x1f && bytes[1] === 0x8b) return tarEntries(gunzipped(bytes));
    return isTar(bytes) ? tarEntries(bytes) : undefined;
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    // Numbers that point outside of it.
    throw new ArchiveError(BROKEN, { cause: error });
  }
}

function gunzipped(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: TAR_BYTES });
  } catch (error) {
    const isBomb = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new ArchiveError(isBomb ? `The archive holds more than ${TAR_BYTES / MB} MB` : BROKEN, { cause: error });
  }
}

function nameOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ArchiveError('The archive has names that are not UTF-8');
  }
}

const END_BYTES = 22;
const COMMENT_BYTES = 65_535;

function zipEntries(bytes: Buffer): Entry[] {
  const from = Math.max(0, bytes.length - END_BYTES - COMMENT_BYTES);
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < from || end + END_BYTES > bytes.length) throw new ArchiveError(BROKEN);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count === 0xffff || at === 0xffffffff) throw new ArchiveError('The archive is a zip64: pack it smaller');
  if (count > SKILL_BOUNDS.entries) throw tooMany();
  return Array.from({ length: count }, () => {
    if (bytes.readUInt32LE(at) !== 0x02014b50) throw new ArchiveError(BROKEN);
    const head = at;
    const nameBytes = bytes.readUInt16LE(at + 28);
    at += 46 + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    return zipEntry(bytes, head, nameOf(bytes.subarray(head + 46, head + 46 + nameBytes)));
  });
}

const FILE_KIND = 0o170000;
const IS_LINK = 0o120000;
const IS_FILE = 0o100000;

function zipEntry(bytes: Buffer, head: number, path: string): Entry {
  // The upper half is a mode where the archive was made on Unix, which also others claim.
  const mode = bytes.readUInt16LE(head + 40) & FILE_KIND;
  const isPlain = mode === 0 || mode === IS_FILE;
  const kind = mode === IS_LINK ? 'link' : path.endsWith('/') ? 'folder' : isPlain ? 'file' : 'other';
  const isLocked = (bytes.readUInt16LE(head + 8) & 1) === 1;
  const method = bytes.readUInt16LE(head + 10);
  const [sum, packed, size, start] = [16, 20, 24, 42].map((offset) => bytes.readUInt32LE(head + offset)) as [
    number,
    number,
    number,
    number,
  ];
  return {
    path,
    kind,
    bytes: size,
    read(most) {
      if (isLocked) throw new ArchiveError('The archive is locked by a password');
      if (bytes.length < start + 30 || bytes.readUInt32LE(start) !== 0x04034b50) throw new ArchiveError(BROKEN);
      const data = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
      const content = unpacked(bytes.subarray(data, data + packed), method, most, path);
      if (crc32(content) !== sum) throw new ArchiveError(BROKEN);
      return content;
    },
  };
}

function unpacked(packed: Buffer, method: number, most: number, path: string): Buffer {
  if (method !== 0 && method !== 8) throw new ArchiveError('The archive is packed in a way that is not read here');
  if (method === 0) {
    if (packed.length > most) throw tooLarge(path);
    return packed;
  }
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, most) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(path);
    throw new ArchiveError(BROKEN, { cause: error });
  }
}

const BLOCK = 512;
const TYPES: Readonly<Record<string, Entry['kind']>> = {
  '0': 'file',
  '\0': 'file',
  '': 'file',
  '5': 'folder',
  '1': 'link',
  '2': 'link',
};

const isTar = (bytes: Buffer): boolean => bytes.length >= BLOCK && bytes.toString('latin1', 257, 262) === 'ustar';
const field = (block: Buffer, from: number, to: number): Buffer => {
  const part = block.subarray(from, to);
  const end = part.indexOf(0);
  return end < 0 ? part : part.subarray(0, end);
};

function tarEntries(bytes: Buffer): Entry[] {
  const entries: Entry[] = [];
  let longName: string | undefined;
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0;) {
    const block = bytes.subarray(at, at + BLOCK);
    const size = Number.parseInt(field(block, 124, 136).toString('latin1').trim() || '0', 8);
    if (!isTar(block) || !(size >= 0)) throw new ArchiveError(BROKEN);
    const content = bytes.subarray(at + BLOCK, at + BLOCK + size);
    if (content.length < size) throw new ArchiveError(BROKEN);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    const type = String.fromCharCode(block[156] ?? 0);
    if (type === 'x') longName = paxPath(content) ?? longName;
    else if (type === 'L') longName = nameOf(field(content, 0, content.length));
    else if (type !== 'g') {
      entries.push(tarEntry(longName ?? tarName(block), TYPES[type] ?? 'other', content));
      longName = undefined;
    }
    if (entries.length > SKILL_BOUNDS.entries) throw tooMany();
  }
  return entries;
}

const tarName = (block: Buffer): string =>
  [field(block, 345, 500), field(block, 0, 100)].map(nameOf).filter(Boolean).join('/');

const tarEntry = (path: string, kind: Entry['kind'], content: Buffer): Entry => ({
  path,
  kind: path.endsWith('/') && kind === 'file' ? 'folder' : kind,
  bytes: content.length,
  read(most) {
    if (content.length > most) throw tooLarge(path);
    return content;
  },
});

/** Records are `27 path=some/where\n`, the number counting all of it. */
function paxPath(content: Buffer): string | undefined {
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at);
    const length = Number.parseInt(content.toString('latin1', at, space), 10);
    if (space < 0 || !(length > 0)) throw new ArchiveError(BROKEN);
    const record = nameOf(content.subarray(space + 1, at + length - 1));
    if (record.startsWith('path=')) return record.slice('path='.length);
    at += length;
  }
  return undefined;
}
