import type { UserTx } from '@troupe/db';
import { SignList, signsOf } from './signs.ts';
import { countMeanings, readSigns } from './store.ts';

/** What a search by meaning knows of a collection. */
export interface Meant {
  number: number;
  generation: number;
  passages: number;
  next: number;
}

interface Kept {
  /** A collection that has another generation or dimension, or has lost passages, is read anew. */
  state: string;
  list: SignList;
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

  function take({ number, generation, passages, next }: Meant, dimension: number): Kept {
    const state = `${generation} ${next - passages} ${dimension}`;
    const known = kept.get(number);
    kept.delete(number);
    const one =
      known?.state === state
        ? known
        : { state, list: new SignList(dimension), checkedAt: now(), turn: Promise.resolve() };
    kept.set(number, one);
    let room = most - [...kept.values()].reduce((sum, { list }) => sum + list.bytes, 0);
    for (const [oldest, { list }] of kept) {
      if (room >= 0 || oldest === number) break;
      room += list.bytes;
      kept.delete(oldest);
    }
    return one;
  }

  /** What came since, and now and then whether that is all. */
  async function catchUp(tx: UserTx, meant: Meant, one: Kept): Promise<void> {
    const { list } = one;
    for (let isMore = true; isMore;) {
      const { count, bytes } = await readSigns(tx, meant, { after: list.last, bits: 8 * list.each, most: AT_ONCE });
      append(list, count, bytes);
      isMore = count === AT_ONCE;
    }
    if (now() - one.checkedAt < CHECK_MS) return;
    one.checkedAt = now();
    if ((await countMeanings(tx, meant)) === list.count) return;
    list.clear();
    await catchUp(tx, meant, one);
  }

  return {
    /** Numbers of passages whose first signs are most like the question's, `most` of them or a few more. */
    async likely(tx: UserTx, meant: Meant, question: Float32Array, wanted: number): Promise<number[]> {
      const one = take(meant, question.length);
      one.turn = one.turn.catch(() => {}).then(() => catchUp(tx, meant, one));
      await one.turn;
      return one.list.likely(signsOf(question), wanted);
    },
  };
}

/** Each: its number, how many bits there are, the bits. */
function append(list: SignList, count: number, bytes: Buffer): void {
  const each = count === 0 ? 0 : bytes.length / count;
  list.makeRoom(count);
  for (let n = 0; n < count; n += 1)
    list.add(bytes.readInt32BE(n * each), bytes.subarray(n * each + 8, (n + 1) * each));
}
