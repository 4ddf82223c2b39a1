import type { UserTx } from '@troupe/db';
import { createBest, type Ranked } from './best.ts';
import type { KeptLists } from './kept.ts';
import { BLOCK, blockOf, scoreOf, weightOf } from './postings.ts';
import { rank } from './rank.ts';
import { readEntries, readTerms, type CollectionStats, type TermPostings } from './store.ts';

/** In entries of lists, and passages. */
const BOUNDS = {
  /** Lists of the rarest terms up to here are read at first: mostly they settle which passages may be the best. */
  first: 20_000,
  /** What is read of the index for one question at most. Adding up so many takes a few milliseconds. */
  most: 120_000,
  /** Passages that are looked up in lists which are not read: the best ones by those that are. */
  lookedUp: 400,
};

interface Term {
  term: string;
  count: number;
  weight: number;
}

type Weighing = Pick<Parameters<typeof rank>[1], 'average' | 'most' | 'tuned'>;

interface Wanted {
  tx: UserTx;
  collections: readonly CollectionStats[];
  most: number;
}

/**
 * The best passages by BM25 over all collections as one. Only lists of rare terms are read whole. As soon as the others could
 * bring no further passage among the best, what they add to those that may be is looked up where the lists are.
 */
export async function byWords(
  { tx, collections, most }: Wanted,
  kept: KeptLists<TermPostings>,
  bounds = BOUNDS,
): Promise<readonly Ranked[]> {
  const all = collections.reduce((sum, { passages }) => sum + passages, 0);
  const average = Math.max(1, collections.reduce((sum, { words }) => sum + words, 0) / all);
  const tuned = new Map(collections.map(({ number, tuning }) => [number, tuning]));
  const over = { average, most, tuned };
  const terms = rarestFirst(collections, all);
  const weights = new Map(terms.map(({ term, weight }) => [term, weight]));
  const reader = createReader(tx, collections, kept);
  for (const room of [bounds.first, bounds.most]) {
    const read = within(terms, { room, all: bounds.most }, reader.isKept);
    const left = terms.filter((one) => !read.has(one));
    const rest = left.reduce((sum, { weight }) => sum + weight, 0);
    const { likely, isSettled } = rank(await reader.lists([...read]), { ...over, weights, rest });
    if (left.length === 0) return likely;
    if (room < bounds.most && !(isSettled && likely.length <= bounds.lookedUp)) continue;
    return completed(tx, likely.slice(0, bounds.lookedUp), left, over);
  }
  return [];
}

function rarestFirst(collections: readonly CollectionStats[], all: number): Term[] {
  const counts = new Map<string, number>();
  for (const { having } of collections)
    for (const [term, count] of Object.entries(having)) counts.set(term, (counts.get(term) ?? 0) + count);
  return [...counts]
    .map(([term, count]) => ({ term, count, weight: weightOf(all, Math.min(all, count)) }))
    .toSorted((a, b) => a.count - b.count);
}

/** The rarest of them, one at least, and such as need not be read. */
function within(
  terms: readonly Term[],
  most: { room: number; all: number },
  isKept: (term: string) => boolean,
): Set<Term> {
  let { room, all } = most;
  return new Set(
    terms.filter(({ term, count }, index) => {
      const isFree = isKept(term);
      if (index > 0 && (count > all || (!isFree && count > room))) return false;
      all -= count;
      if (!isFree) room -= count;
      return true;
    }),
  );
}

/** Where terms stand, each read once. A collection never has the same two numbers again once it has changed. */
function createReader(tx: UserTx, collections: readonly CollectionStats[], kept: KeptLists<TermPostings>) {
  const known = new Map<string, TermPostings[]>();
  const having = (term: string) => collections.filter((collection) => collection.having[term] !== undefined);
  const keyOf = ({ number }: CollectionStats, term: string): string => `${number} ${term}`;
  const stateOf = ({ next, passages }: CollectionStats): string => `${next} ${passages}`;
  const find = (collection: CollectionStats, term: string) => kept.get(keyOf(collection, term), stateOf(collection));
  return {
    isKept: (term: string): boolean => having(term).every((one) => find(one, term) !== undefined),
    async lists(terms: readonly Term[]): Promise<TermPostings[]> {
      const missing: [CollectionStats, string][] = [];
      for (const { term } of terms)
        for (const collection of having(term)) {
          if (known.has(keyOf(collection, term))) continue;
          const lists = find(collection, term);
          if (lists) known.set(keyOf(collection, term), lists);
          else missing.push([collection, term]);
        }
      const wanted = missing.map(([{ number }, term]) => [number, term] as const);
      const read = missing.length === 0 ? [] : await readTerms(tx, wanted);
      const byKey = Map.groupBy(read, ({ collection, term }) => `${collection} ${term}`);
      for (const [collection, term] of missing) {
        const lists = byKey.get(keyOf(collection, term)) ?? [];
        kept.put(keyOf(collection, term), stateOf(collection), lists);
        known.set(keyOf(collection, term), lists);
      }
      return [...known.values()].flat();
    },
  };
}

/** With what the terms add whose lists were not read. */
async function completed(
  tx: UserTx,
  likely: readonly Ranked[],
  left: readonly Term[],
  { average, most, tuned }: Weighing,
): Promise<Ranked[]> {
  const ones = likely.map((one) => ({ ...one })).toSorted((a, b) => a.collection - b.collection || a.number - b.number);
  const blocks = Map.groupBy(ones, ({ collection, number }) => `${collection}.${blockOf(number)}`);
  const places = [...blocks.values()].map((inside) => ({
    collection: inside[0]!.collection,
    block: blockOf(inside[0]!.number),
    slots: inside.map(({ number }) => number % BLOCK),
  }));
  const weights = new Map(left.map(({ term, weight }) => [term, weight]));
  for (const { collection, block, term, entries } of await readEntries(tx, places, [...weights.keys()]))
    for (const [index, one] of blocks.get(`${collection}.${block}`)!.entries()) {
      const entry = { count: entries[2 * index]!, half: entries[2 * index + 1]! };
      one.score += scoreOf(entry, weights.get(term)!, average, tuned.get(collection));
    }
  const best = createBest(most);
  for (const { collection, number, score } of ones)
    if (score >= (tuned.get(collection)?.threshold ?? 0)) best.offer(collection, number, score);
  return best.take();
}
