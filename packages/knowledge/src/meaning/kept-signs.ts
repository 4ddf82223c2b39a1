import type { UserTx } from '@troupe/db';
import { differences, leastOf, putSigns, signsOf, wordsFor } from './signs.ts';
import { countMeanings, readSigns } from './store.ts';

/** What a search by meaning knows of a collection. */
export interface Meant {
  number: number;
  generation: number;
  passages: number;
  next: number;
}

interface Kept {
  /** A collection that has another generation, or has lost passages, is read anew. */
  state: string;
  numbers: Int32Array;
  signs: Int32Array;
  far: Uint16Array;
  count: number;
  /** When all of it was counted. */
  checkedAt: number;
  /** Who reads, one after the other. */
  turn: Promise<void>;
}

export type KeptSigns = ReturnType<typeof createKeptSigns>;

const MOST_BYTES = 16 * 1024 * 1024;
const AT_ONCE = 16_384;
const CHECK_MS = 60_000;

/**
 * The first signs of passages, of the collections that were searched last. What was added is read before each search: numbers
 * only grow, and become vectors in their order. Once a minute it is counted, because older processes may have done otherwise.
 */
export function createKeptSigns({ most = MOST_BYTES, now = () => performance.now() } = {}) {
  const kept = new Map<number, Kept>();
  const bytesOf = ({ numbers, signs, far }: Kept): number => numbers.byteLength + signs.byteLength + far.byteLength;

  function take({ number, generation, passages, next }: Meant): Kept {
    const state = `${generation} ${next - passages}`;
    const known = kept.get(number);
    kept.delete(number);
    const one = known?.state === state ? known : empty(state, now());
    kept.set(number, one);
    let room = most - [...kept.values()].reduce((sum, each) => sum + bytesOf(each), 0);
    for (const [oldest, each] of kept) {
      if (room >= 0 || oldest === number) break;
      room += bytesOf(each);
      kept.delete(oldest);
    }
    return one;
  }

  /** What came since, and now and then whether that is all. */
  async function catchUp(tx: UserTx, meant: Meant, words: number, one: Kept): Promise<void> {
    for (let isMore = true; isMore;) {
      const last = one.count === 0 ? -1 : one.numbers[one.count - 1]!;
      const { count, bytes } = await readSigns(tx, meant, { after: last, words, most: AT_ONCE });
      append(one, { count, bytes, words });
      isMore = count === AT_ONCE;
    }
    if (now() - one.checkedAt < CHECK_MS) return;
    one.checkedAt = now();
    if ((await countMeanings(tx, meant)) === one.count) return;
    one.count = 0;
    await catchUp(tx, meant, words, one);
  }

  return {
    /** Numbers of passages whose first signs are most like the question's, `most` of them or a few more. */
    async likely(tx: UserTx, meant: Meant, question: Float32Array, wanted: number): Promise<number[]> {
      const one = take(meant);
      const words = wordsFor(question.length);
      one.turn = one.turn.catch(() => {}).then(() => catchUp(tx, meant, words, one));
      await one.turn;
      differences(one.signs, signsOf(question), one.count, one.far);
      return leastOf(one.far, one.count, wanted).map((place) => one.numbers[place]!);
    },
  };
}

const empty = (state: string, checkedAt: number): Kept => ({
  state,
  numbers: new Int32Array(),
  signs: new Int32Array(),
  far: new Uint16Array(),
  count: 0,
  checkedAt,
  turn: Promise.resolve(),
});

const grown = <T extends Int32Array | Uint16Array>(old: T, size: number): T => {
  const made = new (old.constructor as new (length: number) => T)(size);
  made.set(old);
  return made;
};

/** Each: its number, how many bits there are, the bits. */
function append(one: Kept, { count, bytes, words }: { count: number; bytes: Buffer; words: number }): void {
  const size = one.count + count;
  if (size > one.numbers.length) {
    const room = count < AT_ONCE ? size : size + AT_ONCE;
    one.numbers = grown(one.numbers, room);
    one.signs = grown(one.signs, room * words);
    one.far = grown(one.far, room);
  }
  const each = count === 0 ? 0 : bytes.length / count;
  for (let n = 0; n < count; n += 1) {
    one.numbers[one.count + n] = bytes.readInt32BE(n * each);
    putSigns(bytes.subarray(n * each + 8, (n + 1) * each), 0, one.signs, (one.count + n) * words, words);
  }
  one.count = size;
}
