import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';

/** Writes a zip piece by piece: nothing of it is held but the names. Each file is packed by the threads of zlib. */
export interface ZipWriter {
  add: (name: string, modifiedAt: Date, source: AsyncIterable<Buffer>) => Promise<void>;
  /** The list of what is in it, without which it is none. */
  finish: () => Promise<void>;
}

const LOCAL = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
/** Sums follow the data, and names are UTF-8. */
const FLAGS = 0x0008 | 0x0800;
const DEFLATED = 8;
const MOST_ENTRIES = 0xfffe;
const MOST_BYTES = 0xffff_fffe;
const PLAIN_FILE = (0o100600 << 16) >>> 0;

/** Numbers of two (`[value, 2]`) and four bytes, the lowest first. */
function block(...fields: [value: number, bytes: 2 | 4][]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [, bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [value, bytes] of fields) at = buffer.writeUIntLE(value, at, bytes);
  return buffer;
}

/** As MS-DOS told the time: two seconds exactly, from 1980 on. */
function moment(at: Date): [[number, 2], [number, 2]] {
  const year = Math.min(127, Math.max(0, at.getUTCFullYear() - 1980));
  return [
    [(at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1), 2],
    [(year << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(), 2],
  ];
}

/** Elsewhere a backslash leads into another folder, and a letter with a colon to another disk: whoever unpacks it means none of these. */
const anywhere = (name: string): string => name.replaceAll(/\\|^[A-Za-z]:|\p{Cc}/gu, '_');

export function createZipWriter(send: (piece: Buffer) => Promise<void>): ZipWriter {
  const list: Buffer[] = [];
  let written = 0;

  async function write(piece: Buffer): Promise<void> {
    written += piece.length;
    if (written > MOST_BYTES || list.length > MOST_ENTRIES) throw new Error('More than a zip can hold');
    await send(piece);
  }

  return {
    async add(name, modifiedAt, source) {
      const title = Buffer.from(anywhere(name), 'utf8');
      const start = written;
      const same: [number, 2 | 4][] = [[FLAGS, 2], [DEFLATED, 2], ...moment(modifiedAt)];
      const after: [number, 2 | 4][] = [
        [title.length, 2],
        [0, 2],
      ];
      await write(Buffer.concat([block([LOCAL, 4], [VERSION, 2], ...same, [0, 4], [0, 4], [0, 4], ...after), title]));
      const { sum, bytes, packed } = await deflated(source, write);
      const sums: [number, 4][] = [
        [sum, 4],
        [packed, 4],
        [bytes, 4],
      ];
      await write(block([DESCRIPTOR, 4], ...sums));
      const made: [number, 2] = [(3 << 8) | VERSION, 2];
      const rest: [number, 2 | 4][] = [
        [0, 2],
        [0, 2],
        [0, 2],
        [PLAIN_FILE, 4],
        [start, 4],
      ];
      list.push(block([CENTRAL, 4], made, [VERSION, 2], ...same, ...sums, ...after, ...rest), title);
    },
    async finish() {
      const at = written;
      const count = list.length / 2;
      const all = Buffer.concat(list);
      await write(all);
      await write(block([END, 4], [0, 2], [0, 2], [count, 2], [count, 2], [all.length, 4], [at, 4], [0, 2]));
    },
  };
}

async function deflated(source: AsyncIterable<Buffer>, write: (piece: Buffer) => Promise<void>) {
  const found = { sum: 0, bytes: 0, packed: 0 };
  await pipeline(
    async function* () {
      for await (const piece of source) {
        found.sum = crc32(piece, found.sum);
        found.bytes += piece.length;
        yield piece;
      }
    },
    createDeflateRaw({ level: 1 }),
    async (packed: AsyncIterable<Buffer>) => {
      for await (const piece of packed) {
        found.packed += piece.length;
        await write(piece);
      }
    },
  );
  return found;
}
