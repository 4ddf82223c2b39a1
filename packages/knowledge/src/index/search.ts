import type { UserTx } from '@troupe/db';
import { askedFor } from '../words/terms.ts';
import { BLOCK, BlockScores, countOf, weightOf } from './postings.ts';
import { countTerms, readAround, readPassages, readTerms, statsOf, type PassageRow, type Tuning } from './store.ts';

/** A passage that was found. */
export interface Hit {
  documentId: string;
  document: string;
  url: string | null;
  collectionId: string;
  collection: string;
  /** Its place in the document, from 0. */
  index: number;
  /** How many there are in it. */
  of: number;
  place: string;
  heading: string;
  text: string;
  score: number;
}

/**
 * What is read of the index for one question at most: above it the commonest words of the question are left out. Adding up
 * so many takes a few milliseconds.
 */
const MOST_POSTINGS = 120_000;
/** Looked at for each that is wanted: some say the same. */
const SPARE = 3;

/** The best passages of somebody's collections by BM25, over all of them as one. */
export async function searchPassages(
  tx: UserTx,
  collectionIds: readonly string[],
  question: string,
  limit: number,
): Promise<Hit[]> {
  const terms = askedFor(question);
  const collections = await statsOf(tx, collectionIds);
  const all = collections.reduce((sum, { passages }) => sum + passages, 0);
  if (terms.length === 0 || all === 0) return [];
  const numbers = collections.map(({ number }) => number);
  const kept = all * terms.length <= MOST_POSTINGS ? terms : await telling(tx, numbers, terms);
  const average = Math.max(1, collections.reduce((sum, { words }) => sum + words, 0) / all);
  const tuned = new Map(collections.map(({ number, tuning }) => [number, tuning]));
  const best = rank(await readTerms(tx, numbers, kept), { all, average, most: limit * SPARE, tuned });
  const rows = new Map((await readPassages(tx, best)).map((row) => [`${row.collection}.${row.number}`, row]));
  const names = new Map(collections.map(({ number, name }) => [number, name]));
  const seen = new Set<string>();
  const room = new Map(collections.map(({ number, tuning }) => [number, tuning.limit ?? limit]));
  return best
    .flatMap(({ collection, number, score }) => {
      const row = rows.get(`${collection}.${number}`);
      const left = room.get(collection) ?? 0;
      if (!row || left === 0 || seen.has(row.text)) return [];
      seen.add(row.text);
      room.set(collection, left - 1);
      return [{ ...hitOf(row, names.get(collection) ?? ''), score }];
    })
    .slice(0, limit);
}

/** The rarest terms, as many as may be read; one at least. */
async function telling(tx: UserTx, numbers: readonly number[], terms: readonly string[]): Promise<string[]> {
  const counts = (await countTerms(tx, numbers, terms)).toSorted((a, b) => a.having - b.having);
  let room = MOST_POSTINGS;
  return counts.filter(({ having }, index) => (room -= having) >= 0 || index === 0).map(({ term }) => term);
}

interface Ranked {
  collection: number;
  number: number;
  score: number;
}

function rank(
  lists: Awaited<ReturnType<typeof readTerms>>,
  { all, average, most, tuned }: { all: number; average: number; most: number; tuned: ReadonlyMap<number, Tuning> },
): Ranked[] {
  const having = new Map<string, number>();
  const blocks = new Map<string, typeof lists>();
  for (const list of lists) {
    having.set(list.term, (having.get(list.term) ?? 0) + countOf(list.postings));
    const key = `${list.collection}.${list.block}`;
    const block = blocks.get(key);
    if (block) block.push(list);
    else blocks.set(key, [list]);
  }
  const scores = new BlockScores();
  const best = createBest(most);
  for (const block of blocks.values()) {
    const { collection, block: number } = block[0]!;
    const tuning = tuned.get(collection) ?? {};
    for (const { term, postings } of block) scores.add(postings, weightOf(all, having.get(term) ?? 0), average, tuning);
    const least = tuning.threshold ?? 0;
    scores.take((slot, score) => {
      if (score >= least) best.offer(collection, number * BLOCK + slot, score);
    });
  }
  return best.take();
}

/** Keeps the best of many: most are worse than what is there, and cost a comparison. */
function createBest(most: number) {
  let kept: Ranked[] = [];
  let least = 0;
  const trim = (): void => {
    kept = kept.toSorted((a, b) => b.score - a.score || a.number - b.number).slice(0, most);
    if (kept.length === most) least = kept.at(-1)!.score;
  };
  return {
    offer(collection: number, number: number, score: number): void {
      if (score <= least) return;
      kept.push({ collection, number, score });
      if (kept.length >= most * 8) trim();
    },
    take(): Ranked[] {
      trim();
      return kept;
    },
  };
}

const hitOf = (row: PassageRow, collection: string): Omit<Hit, 'score'> => ({
  documentId: row.documentId,
  document: row.document,
  url: row.url,
  collectionId: row.collectionId,
  collection,
  index: row.number - row.first,
  of: row.count,
  place: row.place,
  heading: row.heading,
  text: row.text,
});

/** A passage with those around it; undefined: there is none, or not in these collections. */
export async function readPassage(
  tx: UserTx,
  { documentId, index, around }: { documentId: string; index: number; around: number },
  collectionIds?: readonly string[],
): Promise<Omit<Hit, 'score'>[] | undefined> {
  const rows = await readAround(tx, documentId, index, around);
  const [first] = rows;
  if (!first || !rows.some(({ number, first: from }) => number - from === index)) return undefined;
  if (collectionIds && !collectionIds.includes(first.collectionId)) return undefined;
  const [collection] = await statsOf(tx, [first.collectionId]);
  return rows.map((row) => hitOf(row, collection?.name ?? ''));
}
