import type { UserTx } from '@troupe/db';
import { askedFor } from '../words/terms.ts';
import type { Ranked } from './best.ts';
import { createKeptLists, type KeptLists } from './kept.ts';
import { createKeptSigns, type KeptSigns } from '../meaning/kept-signs.ts';
import { nearestAmong } from '../meaning/store.ts';
import { fuse, nearness, nearOnes } from '../meaning/vector.ts';
import { rank } from './rank.ts';
import { readAround, readPassages, readTerms, statsOf, type PassageRow, type TermPostings } from './store.ts';

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

/** How questions become numbers, on somebody's account. */
export interface Meaning {
  /** Undefined: not now. */
  vector: (model: string, question: string) => Promise<Float32Array | undefined>;
  /** The model makes so many numbers of a text now, and those of the collection are others. */
  misfit: (collectionId: string, dimension: number) => Promise<void>;
}

interface Asked {
  tx: UserTx;
  question: string;
  limit: number;
  collections: readonly Collection[];
}

export type PassageSearch = ReturnType<typeof createPassageSearch>;

/** The best passages of somebody's collections: by BM25 over all of them as one, and by meaning in those that have it. */
export function createPassageSearch(kept: KeptLists<TermPostings> = createKeptLists()) {
  const signs = createKeptSigns();
  return async (
    tx: UserTx,
    collectionIds: readonly string[],
    question: string,
    limit: number,
    meaning?: Meaning,
  ): Promise<Hit[]> => {
    const terms = askedFor(question);
    const collections = await statsOf(tx, collectionIds, terms);
    if (collections.every(({ passages }) => passages === 0)) return [];
    const asked = { tx, question, limit, collections };
    const [words, near] = await Promise.all([
      terms.length === 0 ? [] : byWords(asked, kept),
      meaning ? byMeaning(asked, meaning, signs) : [],
    ]);
    if (near.length === 0) return shown(asked, words);
    const fused = fuse([words, near], ({ collection, number }) => `${collection}.${number}`);
    return shown(
      asked,
      fused.map(({ one, score }) => ({ ...one, score })),
    );
  };
}

async function byWords({ tx, limit, collections }: Asked, kept: KeptLists<TermPostings>): Promise<Ranked[]> {
  const all = collections.reduce((sum, { passages }) => sum + passages, 0);
  const lists = await listsOf(tx, collections, telling(collections), kept);
  const average = Math.max(1, collections.reduce((sum, { words }) => sum + words, 0) / all);
  const tuned = new Map(collections.map(({ number, tuning }) => [number, tuning]));
  return rank(lists, { all, average, most: limit * SPARE, tuned });
}

/** Looked at for each that is wanted: by all signs, and of these by their numbers. Signs are coarse. */
const LIKELY = 60;
const LOOKED_AT = 6;

async function byMeaning(
  { tx, question, limit, collections }: Asked,
  meaning: Meaning,
  signs: KeptSigns,
): Promise<Ranked[]> {
  const found: (Ranked & { near: number })[] = [];
  const models = Map.groupBy(collections, ({ embeddings, dimension }) => (dimension === null ? null : embeddings));
  for (const [model, having] of models) {
    const vector = model === null ? undefined : await meaning.vector(model, question);
    if (!vector) continue;
    for (const collection of having) {
      const { id, number, dimension } = collection;
      if (dimension !== vector.length) {
        await meaning.misfit(id, vector.length);
        continue;
      }
      const likely = await signs.likely(tx, collection, vector, limit * LIKELY);
      const most = limit * LOOKED_AT;
      for (const one of await nearestAmong(tx, collection, vector, { likely, most })) {
        const near = nearness(vector, one.vector);
        found.push({ collection: number, number: one.number, score: near, near });
      }
    }
  }
  return nearOnes(found).slice(0, limit * SPARE);
}

type Collection = Awaited<ReturnType<typeof statsOf>>[number];

/** The rarest terms, as many as may be read; one at least. */
function telling(collections: readonly Collection[]): string[] {
  const counts = new Map<string, number>();
  for (const { having } of collections)
    for (const [term, count] of Object.entries(having)) counts.set(term, (counts.get(term) ?? 0) + count);
  let room = MOST_POSTINGS;
  return [...counts]
    .toSorted(([, a], [, b]) => a - b)
    .filter(([, count], index) => (room -= count) >= 0 || index === 0)
    .map(([term]) => term);
}

/** Where the terms stand. A collection never has the same two numbers again once it has changed. */
async function listsOf(
  tx: UserTx,
  collections: readonly Collection[],
  terms: readonly string[],
  kept: KeptLists<TermPostings>,
): Promise<TermPostings[]> {
  const known: TermPostings[] = [];
  const missing: { collection: Collection; term: string }[] = [];
  for (const collection of collections)
    for (const term of terms) {
      if (collection.having[term] === undefined) continue;
      const lists = kept.get(`${collection.number} ${term}`, `${collection.next} ${collection.passages}`);
      if (lists) known.push(...lists);
      else missing.push({ collection, term });
    }
  if (missing.length === 0) return known;
  const read = Map.groupBy(
    await readTerms(
      tx,
      missing.map(({ collection: { number }, term }) => [number, term]),
    ),
    ({ collection, term }) => `${collection} ${term}`,
  );
  for (const { collection, term } of missing) {
    const lists = read.get(`${collection.number} ${term}`) ?? [];
    kept.put(`${collection.number} ${term}`, `${collection.next} ${collection.passages}`, lists);
    known.push(...lists);
  }
  return known;
}

/** With what they say, the same text once. */
async function shown({ tx, collections, limit }: Asked, best: readonly Ranked[]): Promise<Hit[]> {
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
