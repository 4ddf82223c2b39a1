/** One entry of a tar archive in the ustar format; just enough for an image that holds a handful of files. */
export interface TarEntry {
  path: string;
  mode: number;
  content?: Buffer;
  /** The name that a symbolic link points to. */
  link?: string;
  owner?: number;
}

const BLOCK = 512;

function header({ path, mode, content, link, owner = 0 }: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    block.write(value.toString(8).padStart(length - 1, '0'), at, 'ascii');
  };
  block.write(path, 0, 100, 'utf8');
  octal(mode, 100, 8);
  octal(owner, 108, 8);
  octal(owner, 116, 8);
  octal(content?.length ?? 0, 124, 12);
  octal(0, 136, 12);
  block.fill(' ', 148, 156);
  block.write(link === undefined ? (content ? '0' : '5') : '2', 156, 'ascii');
  if (link !== undefined) block.write(link, 157, 100, 'utf8');
  block.write('ustar\u000000', 257, 'ascii');
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return block;
}

/** The archive, piece by piece. */
export function* tar(entries: Iterable<TarEntry>): Generator<Buffer> {
  for (const entry of entries) {
    yield header(entry);
    if (!entry.content) continue;
    yield entry.content;
    const rest = entry.content.length % BLOCK;
    if (rest > 0) yield Buffer.alloc(BLOCK - rest);
  }
  yield Buffer.alloc(BLOCK * 2);
}
