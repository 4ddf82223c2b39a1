/** Tar archives in the ustar format, with a pax header where a name is too long for it. What is read was written here. */
export interface TarEntry {
  path: string;
  mode: number;
  content?: Buffer;
  /** Content that is read piece by piece; exactly `size` bytes of it are written, whatever comes. */
  file?: { size: number; read: () => AsyncIterable<Buffer> };
  /** The name that a symbolic link points to. */
  link?: string;
  owner?: number;
}

export interface TarItem {
  path: string;
  mode: number;
  kind: 'file' | 'folder' | 'link';
  link: string;
  /** To be read before the next item is asked for; what is left is passed over. */
  content: AsyncGenerator<Buffer>;
}

const BLOCK = 512;
const NAME = 100;
const KINDS: Readonly<Record<string, TarItem['kind']>> = { '0': 'file', '5': 'folder', '2': 'link' };

const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
function sum(block: Buffer): number {
  let total = 0;
  for (let at = 0; at < block.length; at += 1) total += at >= 148 && at < 156 ? 0x20 : block[at]!;
  return total;
}

function header(path: string, { mode, link = '', owner = 0 }: TarEntry, size: number, type: string): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    block.write(value.toString(8).padStart(length - 1, '0'), at, 'ascii');
  };
  block.write(path, 0, NAME, 'utf8');
  octal(mode, 100, 8);
  octal(owner, 108, 8);
  octal(owner, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  block.write(type, 156, 'ascii');
  block.write(link, 157, NAME, 'utf8');
  block.write('ustar\u000000', 257, 'ascii');
  octal(sum(block), 148, 7);
  return block;
}

/** `<length> <key>=<value>\n`, where the length counts itself. */
function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function* longNames(entry: TarEntry): Generator<Buffer> {
  const { path, link = '' } = entry;
  const isLong = (name: string): boolean => Buffer.byteLength(name) > NAME;
  const text = Buffer.from((isLong(path) ? record('path', path) : '') + (isLong(link) ? record('linkpath', link) : ''));
  if (text.length === 0) return;
  yield header('pax', { path: '', mode: 0o644 }, text.length, 'x');
  yield text;
  yield padding(text.length);
}

async function* exactly(size: number, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left = size;
  for await (const piece of pieces) {
    yield piece.subarray(0, left);
    left -= Math.min(left, piece.length);
    if (left === 0) return;
  }
  for (; left > 0; left -= Math.min(left, BLOCK)) yield Buffer.alloc(Math.min(left, BLOCK));
}

/** The archive, piece by piece. */
export async function* tar(entries: Iterable<TarEntry> | AsyncIterable<TarEntry>): AsyncGenerator<Buffer> {
  for await (const entry of entries) {
    const { path, content, file, link } = entry;
    const size = file?.size ?? content?.length ?? 0;
    yield* longNames(entry);
    yield header(path, entry, size, link !== undefined ? '2' : content || file ? '0' : '5');
    if (file) yield* exactly(size, file.read());
    else if (content) yield content;
    yield padding(size);
  }
  yield Buffer.alloc(BLOCK * 2);
}

/** Bytes of a stream, as many as are asked for. */
function createReader(source: AsyncIterable<Buffer>) {
  const pieces = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  async function* upTo(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0;) {
      if (held.length === 0) {
        const next = await pieces.next();
        if (next.done) throw new Error('the archive ends too early');
        held = next.value;
      }
      const piece = held.subarray(0, left);
      held = held.subarray(piece.length);
      left -= piece.length;
      if (piece.length > 0) yield piece;
    }
  }
  return {
    upTo,
    async take(size: number): Promise<Buffer> {
      const parts: Buffer[] = [];
      for await (const part of upTo(size)) parts.push(part);
      return Buffer.concat(parts);
    },
  };
}

const textAt = (block: Buffer, from: number, length: number): string => {
  const part = block.subarray(from, from + length);
  const end = part.indexOf(0);
  return part.toString('utf8', 0, end === -1 ? length : end);
};
const numberAt = (block: Buffer, from: number, length: number): number =>
  Number.parseInt(textAt(block, from, length).trim() || '0', 8);

/** What the archive holds, in order. Throws when it is damaged or cut off. */
export async function* untar(source: AsyncIterable<Buffer>): AsyncGenerator<TarItem> {
  const reader = createReader(source);
  let long: Record<string, string> = {};
  for (;;) {
    const block = await reader.take(BLOCK);
    if (block.every((byte) => byte === 0)) return;
    if (sum(block) !== numberAt(block, 148, 8)) throw new Error('the archive is damaged');
    const size = numberAt(block, 124, 12);
    const type = textAt(block, 156, 1);
    if (type === 'x') {
      const text = (await reader.take(size)).toString();
      await reader.take(padding(size).length);
      long = Object.fromEntries([...text.matchAll(/\d+ (\w+)=(.*)\n/g)].map((found) => [found[1], found[2]]));
      continue;
    }
    const kind = KINDS[type];
    if (!kind) throw new Error(`the archive has an entry of an unknown kind: ${type}`);
    const content = reader.upTo(size);
    yield {
      path: long['path'] ?? textAt(block, 0, NAME),
      mode: numberAt(block, 100, 8),
      kind,
      link: long['linkpath'] ?? textAt(block, 157, NAME),
      content,
    };
    for await (const _ of content) continue;
    await reader.take(padding(size).length);
    long = {};
  }
}
