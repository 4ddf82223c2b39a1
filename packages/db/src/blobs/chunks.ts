import { createHash, webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';

/** A piece of a file as it is kept: named by what it says, made smaller where that is worth it. */
export interface Chunk {
  /** SHA-256 of what it says, in hex. */
  hash: string;
  /** Of what it says. */
  size: number;
  /** As they are kept. */
  bytes: Uint8Array;
  packed: boolean;
}

export const CHUNK_BYTES = 1024 * 1024;
/** Below it packing saves nothing. */
const WORTH_PACKING = 256;

/** Both work in other threads, and hold nobody up. */
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Above it the way to another thread is the shorter one. */
const LARGE = 64 * 1024;

export async function hashOf(content: Uint8Array): Promise<string> {
  if (content.length < LARGE) return createHash('sha256').update(content).digest('hex');
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', content as Uint8Array<ArrayBuffer>)).toString('hex');
}

export async function toChunk(content: Uint8Array): Promise<Chunk> {
  const hash = await hashOf(content);
  const plain = { hash, size: content.length, bytes: content, packed: false };
  if (content.length < WORTH_PACKING) return plain;
  const bytes = await compress(content);
  return bytes.length < content.length * 0.9 ? { ...plain, bytes, packed: true } : plain;
}

/** What a chunk says, checked. */
export async function fromChunk({ hash, size, bytes, packed }: Chunk): Promise<Uint8Array> {
  const content = packed ? await decompress(bytes, { maxOutputLength: size }) : bytes;
  if (content.length !== size || (await hashOf(content)) !== hash)
    throw new Error(`a stored piece of a file is damaged: ${hash}`);
  return content;
}
