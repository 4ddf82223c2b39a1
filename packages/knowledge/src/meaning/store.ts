import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';
import { bitsOf, bytesOf } from './vector.ts';

/** Passages as numbers. Whoever writes holds the collection's row. */

export interface Embedding {
  number: number;
  embeddings: string | null;
  generation: number;
  dimension: number | null;
  changes: number;
}

const EMBEDDING = ['number', 'embeddings', 'generation', 'dimension', 'changes'] as const;

export const embeddingOf = (tx: UserTx, collectionId: string): Promise<Embedding | undefined> =>
  tx.selectFrom('knowledge_collections').select(EMBEDDING).where('id', '=', collectionId).executeTakeFirst();

export const holdEmbedding = (tx: UserTx, collectionId: string): Promise<Embedding | undefined> =>
  tx
    .selectFrom('knowledge_collections')
    .select(EMBEDDING)
    .where('id', '=', collectionId)
    .forUpdate()
    .executeTakeFirst();

export const setEmbedding = (
  tx: UserTx,
  collectionId: string,
  values: {
    embeddings?: string | null;
    generation?: number;
    dimension?: number | null;
    changes?: number;
    meaning_note?: string | null;
  },
) => tx.updateTable('knowledge_collections').set(values).where('id', '=', collectionId).execute();

const MOST_CHARACTERS = 6000;

/** The next passages after `after` that have no numbers of this generation. */
export async function passagesWithout(
  tx: UserTx,
  { number, generation }: Pick<Embedding, 'number' | 'generation'>,
  { after, most }: { after: number; most: number },
): Promise<{ number: number; text: string }[]> {
  const { rows } = await sql<{ number: number; text: string }>`
    select p.number, left(p.heading || e'\n' || p.text, ${MOST_CHARACTERS}) as text from knowledge_passages p
    where p.collection = ${number} and p.number > ${after} and not exists (select from knowledge_meanings m
      where m.collection = p.collection and m.number = p.number and m.generation = ${generation})
    order by p.number limit ${most}`.execute(tx);
  return rows;
}

/**
 * Those that were taken out meanwhile are left out. Each passage is looked up by itself (`offset 0`): with statistics from
 * before the passages came, PostgreSQL would read all of them for each batch.
 */
export async function keepVectors(
  tx: UserTx,
  { userId, number, generation }: { userId: string; number: number; generation: number },
  given: readonly { number: number; vector: Float32Array }[],
): Promise<void> {
  const numbers = given.map((one) => one.number);
  const there = sql`cross join lateral (select from knowledge_passages p
    where p.collection = ${number} and p.number = given.number offset 0) there`;
  await sql`insert into knowledge_meanings (collection, number, user_id, generation, bits)
    select ${number}::integer, given.number, ${userId}, ${generation}::integer, given.bits::bit varying
    from unnest(${numbers}::integer[], ${given.map(({ vector }) => bitsOf(vector))}::text[]) as given (number, bits) ${there}
    on conflict (collection, number) do update set generation = excluded.generation, bits = excluded.bits`.execute(tx);
  await sql`insert into knowledge_vectors (collection, number, user_id, vector)
    select ${number}::integer, given.number, ${userId}, decode(given.bytes, 'hex')
    from unnest(${numbers}::integer[], ${given.map(({ vector }) => bytesOf(vector).toString('hex'))}::text[]) as given (number, bytes) ${there}
    on conflict (collection, number) do update set vector = excluded.vector`.execute(tx);
}

export const dropVectors = (tx: UserTx, number: number) =>
  sql`delete from knowledge_meanings where collection = ${number}`.execute(tx);

/** Which numbers of which collection. */
interface Which {
  number: number;
  generation: number;
}

/** The next passages after `after`: of each its number, how many bits follow, and its first signs. */
export async function readSigns(
  tx: UserTx,
  { number, generation }: Which,
  { after, bits, most }: { after: number; bits: number; most: number },
): Promise<{ count: number; bytes: Buffer }> {
  const { rows } = await sql<{ count: number; bytes: Buffer | null }>`select count(*)::integer as count,
      string_agg(int4send(next.number) || bit_send(substring(next.bits from 1 for ${bits}::integer)), ''::bytea order by next.number) as bytes
    from (select m.number, m.bits from knowledge_meanings m
      where m.collection = ${number} and m.number > ${after} and m.generation = ${generation}
      order by m.number limit ${most}) next`.execute(tx);
  const { count, bytes } = rows[0]!;
  return { count, bytes: bytes ?? Buffer.alloc(0) };
}

export async function countMeanings(tx: UserTx, { number, generation }: Which): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from knowledge_meanings
    where collection = ${number} and generation = ${generation}`.execute(tx);
  return rows[0]!.count;
}

/** Of these passages the ones whose signs differ least from the question's, with their numbers. */
export async function nearestAmong(
  tx: UserTx,
  { number, generation }: Which,
  question: Float32Array,
  { likely, most }: { likely: readonly number[]; most: number },
): Promise<{ number: number; vector: Buffer }[]> {
  const { rows } = await sql<{ number: number; vector: Buffer }>`
    select near.number, v.vector from (
      select m.number from unnest(${likely}::integer[]) as l (number)
      join knowledge_meanings m on m.collection = ${number} and m.number = l.number and m.generation = ${generation}
      order by bit_count(m.bits # ${bitsOf(question)}::bit varying) limit ${most}) near
    join knowledge_vectors v on v.collection = ${number} and v.number = near.number`.execute(tx);
  return rows;
}
