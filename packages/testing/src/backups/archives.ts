import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

/** Archives as people and attackers make them. */

export interface Packed {
  path: string;
  content?: string | Buffer;
  /** Of Unix, with the kind of file. */
  mode?: number;
}

const LINK = 0o120777;
export const link = (path: string, target: string): Packed => ({ path, content: target, mode: LINK });

const head = (size: number, fields: readonly (readonly [at: number, bytes: 2 | 4, value: number])[]): Buffer => {
  const buffer = Buffer.alloc(size);
  for (const [at, bytes, value] of fields) {
    if (bytes === 2) buffer.writeUInt16LE(value, at);
    else buffer.writeUInt32LE(value >>> 0, at);
  }
  return buffer;
};

export function zipOf(entries: readonly Packed[]): Buffer {
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { path, content = '', mode = 0o100644 } of entries) {
    const name = Buffer.from(path);
    const plain = Buffer.from(content);
    const packed = deflateRawSync(plain);
    const common = (at: number) =>
      [
        [at, 2, 20],
        [at + 4, 2, 8],
        [at + 10, 4, crc32(plain)],
        [at + 14, 4, packed.length],
        [at + 18, 4, plain.length],
        [at + 22, 2, name.length],
      ] as const;
    parts.push(head(30, [[0, 4, 0x04034b50], ...common(4)]), name, packed);
    central.push(head(46, [[0, 4, 0x02014b50], [4, 2, 0x0314], ...common(6), [40, 2, mode], [42, 4, offset]]), name);
    offset += 30 + name.length + packed.length;
  }
  const list = Buffer.concat(central);
  const end = head(22, [
    [0, 4, 0x06054b50],
    [8, 2, entries.length],
    [10, 2, entries.length],
    [12, 4, list.length],
    [16, 4, offset],
  ]);
  return Buffer.concat([...parts, list, end]);
}

export function tarOf(entries: readonly (Packed & { type?: string })[]): Buffer {
  const blocks = entries.flatMap(({ path, content = '', type = '0' }) => {
    const body = Buffer.from(content);
    const block = Buffer.alloc(512);
    block.write(path.slice(0, 100), 0);
    block.write('0000644\0', 100);
    block.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124);
    block.write(type, 156);
    block.write('ustar', 257);
    block.write('00', 263);
    return [block, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export const tarGzOf = (entries: Parameters<typeof tarOf>[0]): Buffer => gzipSync(tarOf(entries));

export const skillMd = (name: string, body = 'Do it well.', more = ''): string =>
  `---\nname: ${name}\ndescription: What ${name} is for.\n${more}---\n\n${body}\n`;
