import { createBest, type Ranked } from './best.ts';
import { BLOCK, BlockScores, countOf, weightOf } from './postings.ts';
import type { TermPostings, Tuning } from './store.ts';

interface Over {
  /** Passages, and their words on average. */
  all: number;
  average: number;
  /** How many are wanted. */
  most: number;
  tuned: ReadonlyMap<number, Tuning>;
}

/**
 * The best passages by BM25. In each block the rarest terms are added up first. As soon as what is left could bring no
 * passage among the best by itself, only those are looked up that still can get there; mostly there are none.
 */
export function rank(lists: readonly TermPostings[], { all, average, most, tuned }: Over): Ranked[] {
  const having = new Map<string, number>();
  const blocks = new Map<string, TermPostings[]>();
  for (const list of lists) {
    having.set(list.term, (having.get(list.term) ?? 0) + countOf(list.postings));
    const key = `${list.collection}.${list.block}`;
    const block = blocks.get(key);
    if (block) block.push(list);
    else blocks.set(key, [list]);
  }
  const weights = new Map([...having].map(([term, count]) => [term, weightOf(all, count)]));
  const scores = new BlockScores();
  const best = createBest(most);
  for (const block of blocks.values()) {
    const { collection, block: number } = block[0]!;
    const tuning = tuned.get(collection) ?? {};
    const weighed = block
      .map(({ term, postings }) => ({ postings, weight: weights.get(term) ?? 0 }))
      .toSorted((a, b) => b.weight - a.weight);
    scores.addBest(weighed, best.least(), average, tuning);
    const threshold = tuning.threshold ?? 0;
    scores.take(Math.max(threshold, best.least()), (slot, score) => {
      best.offer(collection, number * BLOCK + slot, score);
      return Math.max(threshold, best.least());
    });
  }
  return best.take();
}
