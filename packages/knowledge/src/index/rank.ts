import { createBest, type Ranked } from './best.ts';
import { BLOCK, BlockScores, K1 } from './postings.ts';
import type { TermPostings, Tuning } from './store.ts';

interface Over {
  weights: ReadonlyMap<string, number>;
  /** Words of a passage on average. */
  average: number;
  /** How many are wanted. */
  most: number;
  tuned: ReadonlyMap<number, Tuning>;
  /** Weights of terms whose lists are not here, all together. */
  rest?: number;
}

export interface Ranking {
  /** All that may be among the best, whatever the rest adds; the best first. */
  likely: Ranked[];
  /** Whether no passage outside of the lists can get among the best. */
  isSettled: boolean;
}

/** So many that were likely once are gone through again. */
const LOOKED_THROUGH = 4096;

/**
 * The best passages by BM25. In each block the rarest terms are added up first. As soon as what is left could bring no
 * passage among the best by itself, only those are looked up that still can get there; mostly there are none.
 */
export function rank(lists: readonly TermPostings[], over: Over): Ranking {
  const { average, most, tuned, weights, rest = 0 } = over;
  const scores = new BlockScores();
  const best = createBest(most);
  const more = rest * (1 + Math.max(K1, ...[...tuned.values()].map(({ k1 = K1 }) => k1)));
  let likely: Ranked[] = [];
  let full = LOOKED_THROUGH;
  const least = (): number => Math.max(0, best.least() - more);
  for (const block of inBlocks(lists)) {
    const { collection, block: number } = block[0]!;
    const tuning = tuned.get(collection) ?? {};
    const weighed = block
      .map(({ term, postings }) => ({ postings, weight: weights.get(term) ?? 0 }))
      .toSorted((a, b) => b.weight - a.weight);
    scores.addBest(weighed, least(), average, tuning);
    const threshold = (tuning.threshold ?? 0) - more;
    scores.take(Math.max(threshold, least()), (slot, score) => {
      best.offer(collection, number * BLOCK + slot, score);
      if (more > 0) likely.push({ collection, number: number * BLOCK + slot, score });
      return Math.max(threshold, least());
    });
    if (likely.length < full) continue;
    likely = likely.filter(({ score }) => score >= least());
    full = Math.max(LOOKED_THROUGH, 2 * likely.length);
  }
  if (more === 0) return { likely: best.take(), isSettled: true };
  const bound = least();
  return {
    likely: likely.filter(({ score }) => score >= bound).toSorted((a, b) => b.score - a.score),
    isSettled: best.least() > more,
  };
}

function inBlocks(lists: readonly TermPostings[]): Iterable<TermPostings[]> {
  const blocks = new Map<string, TermPostings[]>();
  for (const list of lists) {
    const key = `${list.collection}.${list.block}`;
    const block = blocks.get(key);
    if (block) block.push(list);
    else blocks.set(key, [list]);
  }
  return blocks.values();
}
