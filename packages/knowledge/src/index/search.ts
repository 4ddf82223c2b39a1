import type { UserTx } from '@troupe/db';
import { askedFor } from '../words/terms.ts';
import type { Ranked } from './best.ts';
import { byWords } from './by-words.ts';
import { createKeptLists, type KeptLists } from './kept.ts';
import { createKeptSigns, type KeptSigns } from '../meaning/kept-signs.ts';
import { nearestAmong } from '../meaning/store.ts';
import { fuse, nearness, nearOnes } from '../meaning/vector.ts';
import {
  readAround,
  readPassages,
  statsOf,
  type CollectionStats,
  type PassageRow,
  type TermPostings,
} from './store.ts';

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
  collections: readonly CollectionStats[];
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
      terms.length === 0 ? [] : byWords({ tx, collections, most: limit * SPARE }, kept),
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
