import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';
import { BLOCK, blockOf, postingsOf, without, type Counted, type Weighing } from './postings.ts';

/** The rows of the index. Whoever writes holds the collection's row. */

/** How a collection is searched, where somebody has said so. */
export interface Tuning extends Weighing {
  /** Passages that score less are left out, and so is what is beyond so many. */
  threshold?: number | undefined;
  limit?: number | undefined;
}

const AT_ONCE = 4000;

function* slices<T>(all: Iterable<T>, size = AT_ONCE): Generator<T[]> {
  let part: T[] = [];
  for (const one of all) {
    part.push(one);
    if (part.length < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

export interface HeldCollection {
  number: number;
  next: number;
}

/** Two writers of one collection come one after the other. */
export const holdCollection = async (tx: UserTx, id: string): Promise<HeldCollection | undefined> =>
  tx.selectFrom('knowledge_collections').select(['number', 'next']).where('id', '=', id).forUpdate().executeTakeFirst();

export interface Written extends Counted {
  place: string;
  heading: string;
  text: string;
}

interface Place {
  userId: string;
  collection: number;
  documentId: string;
  first: number;
}

/** Answers the terms that stand in them, each once. */
export async function addPassages(
  tx: UserTx,
  { userId, collection, documentId, first }: Place,
  passages: readonly Written[],
): Promise<Set<string>> {
  for (const [index, part] of [...slices(passages, 1000)].entries())
    await sql`insert into knowledge_passages (collection, number, user_id, document_id, place, heading, text)
      select ${collection}::integer, ${first + index * 1000}::integer + (given.n - 1)::integer, ${userId}, ${documentId}, given.place, given.heading, given.text
      from unnest(${part.map(({ place }) => place)}::text[], ${part.map(({ heading }) => heading)}::text[],
        ${part.map(({ text }) => text)}::text[]) with ordinality as given (place, heading, text, n)`.execute(tx);
  const known = new Set<string>();
  for (const [block, lists] of await postingsOf(passages, first))
    for (const part of slices(lists)) {
      for (const [term] of part) known.add(term);
      await sql`insert into knowledge_postings as p (collection, term, block, user_id, postings)
        select ${collection}::integer, given.term, ${block}::integer, ${userId}, decode(given.bytes, 'hex')
        from unnest(${part.map(([term]) => term)}::text[], ${part.map(([, bytes]) => Buffer.from(bytes).toString('hex'))}::text[]) as given (term, bytes)
        on conflict (collection, term, block) do update set postings = p.postings || excluded.postings`.execute(tx);
    }
  return known;
}

interface Kept {
  collection: number;
  documentId: string;
  first: number;
  count: number;
  terms: readonly string[];
}

/** Takes a document out of the index; what else stands in its blocks stays. */
export async function removePassages(tx: UserTx, { collection, documentId, first, count, terms }: Kept): Promise<void> {
  await tx.deleteFrom('knowledge_passages').where('document_id', '=', documentId).execute();
  if (count === 0) return;
  for (let block = blockOf(first); block <= blockOf(first + count - 1); block += 1) {
    const [from, to] = [first - block * BLOCK, first + count - block * BLOCK];
    for (const part of slices(terms)) await removeTerms(tx, { collection, block, from, to }, part);
  }
}

async function removeTerms(
  tx: UserTx,
  { collection, block, from, to }: { collection: number; block: number; from: number; to: number },
  terms: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ term: string; postings: Buffer }>`select term, postings from knowledge_postings
    where collection = ${collection} and block = ${block} and term = any(${terms}::text[])`.execute(tx);
  const kept = rows.map(({ term, postings }) => ({ term, bytes: without(postings, from, to) }));
  const gone = kept.filter(({ bytes }) => bytes.length === 0).map(({ term }) => term);
  const left = kept.filter(({ bytes }) => bytes.length > 0);
  await sql`delete from knowledge_postings
    where collection = ${collection} and block = ${block} and term = any(${gone}::text[])`.execute(tx);
  await sql`update knowledge_postings p set postings = decode(given.bytes, 'hex')
    from unnest(${left.map(({ term }) => term)}::text[], ${left.map(({ bytes }) => bytes.toString('hex'))}::text[]) as given (term, bytes)
    where p.collection = ${collection} and p.block = ${block} and p.term = given.term`.execute(tx);
}

export interface TermPostings {
  collection: number;
  term: string;
  block: number;
  postings: Buffer;
}

export async function readTerms(
  tx: UserTx,
  wanted: readonly (readonly [collection: number, term: string])[],
): Promise<TermPostings[]> {
  const { rows } = await sql<TermPostings>`select p.collection, p.term, p.block, p.postings
    from unnest(${wanted.map(([collection]) => collection)}::integer[], ${wanted.map(([, term]) => term)}::text[]) as w (collection, term)
    join knowledge_postings p on p.collection = w.collection and p.term = w.term collate "C"`.execute(tx);
  return rows;
}

export interface PassageRow {
  collection: number;
  number: number;
  place: string;
  heading: string;
  text: string;
  documentId: string;
  document: string;
  url: string | null;
  collectionId: string;
  first: number;
  count: number;
}

const PASSAGE = sql`p.collection, p.number, p.place, p.heading, p.text, d.id as "documentId", d.name as document, d.url,
  d.collection_id as "collectionId", d.first, d.passages as count`;

export async function readPassages(
  tx: UserTx,
  wanted: readonly { collection: number; number: number }[],
): Promise<PassageRow[]> {
  const { rows } = await sql<PassageRow>`select ${PASSAGE}
    from unnest(${wanted.map(({ collection }) => collection)}::integer[], ${wanted.map(({ number }) => number)}::integer[]) as w (collection, number)
    join knowledge_passages p on p.collection = w.collection and p.number = w.number
    join knowledge_documents d on d.id = p.document_id and d.state <> 'removed'`.execute(tx);
  return rows;
}

/** A passage of a document by its place in it, with those around it. */
export async function readAround(tx: UserTx, documentId: string, index: number, around: number): Promise<PassageRow[]> {
  const { rows } = await sql<PassageRow>`select ${PASSAGE} from knowledge_documents d
    join knowledge_passages p on p.document_id = d.id
      and p.number between d.first + ${index}::integer - ${around}::integer and d.first + ${index}::integer + ${around}::integer
    where d.id = ${documentId} and d.state <> 'removed' order by p.number`.execute(tx);
  return rows;
}

/** Collections as a search needs them, with how many of their passages have each term: told without reading where. */
export async function statsOf(tx: UserTx, ids: readonly string[], terms: readonly string[] = []) {
  return tx
    .selectFrom('knowledge_collections')
    .select(['id', 'number', 'name', 'passages', 'next', 'embeddings', 'generation', 'dimension'])
    .select(sql<number>`words::float8`.as('words'))
    .select(sql<Tuning>`tuning`.as('tuning'))
    .select(
      sql<Record<string, number>>`(select coalesce(jsonb_object_agg(t.term, t.having), '{}') from (
        select p.term, sum(octet_length(p.postings)) / 4 as having from knowledge_postings p
        where p.collection = knowledge_collections.number and p.term = any(${terms}::text[]) group by p.term) t)`.as(
        'having',
      ),
    )
    .where('id', 'in', [...ids, ''])
    .execute();
}
