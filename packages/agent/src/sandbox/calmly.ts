import type { Readable } from 'node:stream';

/** A piece of this size is worth its turn of the loop. */
const LARGE_BYTES = 16_384;
/** After a smaller one it waits so long: what is written meanwhile comes as one. */
const PAUSE_MS = 2;

/** As Node has it; nobody promises it. Without it as much as fits there is read while nobody listens, in as many pieces. */
interface Buffered {
  _readableState?: { highWaterMark?: number };
}

/**
 * Reads what a program of somebody else writes. One that writes bytes one by one would be read so, with as much of the loop as it has
 * of a processor.
 */
export function readCalmly(stream: Readable, take: (chunk: Buffer) => void): void {
  const state = (stream as Buffered)._readableState;
  // One piece that nobody took yet is enough: the rest waits where the program writes it.
  if (state?.highWaterMark !== undefined) state.highWaterMark = 1;
  stream.on('data', (chunk: Buffer) => {
    take(chunk);
    if (chunk.length >= LARGE_BYTES) return;
    stream.pause();
    setTimeout(() => stream.resume(), PAUSE_MS);
  });
}
