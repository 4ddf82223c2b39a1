/**
 * What comes over a network comes in pieces, as many as the sender likes: one of a single byte is an object like one of 64 KB, and
 * costs as much to pass on. A bound in bytes alone lets a body of 1 MB be a million of them.
 */

export interface PieceBounds {
  /** Of these anybody may send any size. */
  free: number;
  /** Bytes that those beyond have on average. */
  least: number;
}

/** What other servers may do: some of them send each line or word as it comes to their mind. */
const FROM_SERVERS: PieceBounds = { free: 10_000, least: 64 };

/** Counts a piece; false: there are too many for what they bring. */
export type CountPiece = (bytes: number) => boolean;

export function createPieceCount({ free, least } = FROM_SERVERS): CountPiece {
  let pieces = 0;
  let all = 0;
  return (bytes) => {
    pieces += 1;
    all += bytes;
    return pieces <= free || all >= pieces * least;
  };
}

/** A piece of this size is kept as it is; a smaller one may be all that is left of what it came in. */
const LARGE_BYTES = 16_384;
const BLOCK_BYTES = 65_536;

/** What has come and was not taken yet. Small pieces are put together: each by itself would cost a hundred times what it holds. */
export class Gathered {
  #blocks: Uint8Array[] = [];
  #open: Buffer | undefined;
  #used = 0;
  length = 0;

  add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    const isFirst = this.length === 0;
    this.length += piece.length;
    // Most come alone.
    if (isFirst || piece.length >= LARGE_BYTES) {
      this.#close();
      this.#blocks.push(piece);
      return;
    }
    if (this.#used + piece.length > BLOCK_BYTES) this.#close();
    this.#open ??= Buffer.allocUnsafe(BLOCK_BYTES);
    this.#open.set(piece, this.#used);
    this.#used += piece.length;
  }

  /** All of it in one, which is gone here. */
  take(): Buffer {
    this.#close();
    const [first = new Uint8Array()] = this.#blocks;
    const all =
      this.#blocks.length > 1
        ? Buffer.concat(this.#blocks, this.length)
        : Buffer.from(first.buffer, first.byteOffset, first.byteLength);
    this.#blocks = [];
    this.#open = undefined;
    this.length = 0;
    return all;
  }

  /** What is full is not copied; else the room serves again. */
  #close(): void {
    if (this.#open === undefined || this.#used === 0) return;
    const written = this.#open.subarray(0, this.#used);
    const isFull = this.#used > BLOCK_BYTES - LARGE_BYTES;
    this.#blocks.push(isFull ? written : Buffer.from(written));
    if (isFull) this.#open = undefined;
    this.#used = 0;
  }
}
