import { randomFillSync } from 'node:crypto';

/** Ids of traces and spans, from a store: asking for a few random bytes each time costs more than the rest of a span. */

const STORE_BYTES = 8192;
const store = Buffer.alloc(STORE_BYTES);
let taken = STORE_BYTES;

/** Where in the store that many begin that nobody has had. */
function take(bytes: number): number {
  if (taken + bytes > STORE_BYTES) {
    randomFillSync(store);
    taken = 0;
  }
  taken += bytes;
  return taken - bytes;
}

export function newId(bytes: number): string {
  const at = take(bytes);
  return store.toString('hex', at, at + bytes);
}

/** The same, written where it is wanted. */
export function writeNewId(target: Buffer, at: number, bytes: number): void {
  const from = take(bytes);
  for (let n = 0; n < bytes; n += 1) target[at + n] = store[from + n]!;
}
