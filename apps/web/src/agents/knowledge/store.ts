import type { UserTx } from '@troupe/db';
import type { Tuning } from '@troupe/domain';
import { sql, type RawBuilder } from 'kysely';

/** The rows of collections and documents. What the index keeps of them is written by the knowledge package. */

export const lockKnowledge = (tx: UserTx, userId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`knowledge:${userId}`}, 0))`.execute(tx);

export interface CollectionRow {
  id: string;
  name: string;
  description: string;
  documents: number;
  waiting: number;
  failed: number;
  passages: number;
  embeddings: string | null;
  embedded: number;
  meaning_note: string | null;
  created_at: Date;
  updated_at: Date;
}

export async function listCollections(tx: UserTx, id?: string): Promise<CollectionRow[]> {
  const { rows } =
    await sql<CollectionRow>`select c.id, c.name, c.description, c.passages, c.embeddings, c.meaning_note, c.created_at, c.updated_at,
      case when c.dimension is null then 0 else (select count(*) from knowledge_meanings m
        where m.collection = c.number and m.generation = c.generation)::integer end as embedded,
      count(d.id)::integer as documents, (count(*) filter (where d.state = 'waiting'))::integer as waiting,
      (count(*) filter (where d.state = 'failed'))::integer as failed
    from knowledge_collections c left join knowledge_documents d on d.collection_id = c.id and d.state <> 'removed'
    where ${id ?? null}::text is null or c.id = ${id ?? null}
    group by c.id order by lower(c.name), c.id`.execute(tx);
  return rows;
}

/** Which agents have which collection, by their newest definitions. */
export async function listGiven(tx: UserTx): Promise<{ agentId: string; name: string; collectionId: string }[]> {
  const { rows } = await sql<{ agentId: string; name: string; collectionId: string }>`
    select agents.id as "agentId", agents.name, given ->> 'id' as "collectionId"
    from agents cross join lateral (
      select definition from agent_definitions where agent_id = agents.id order by version desc limit 1
    ) newest cross join lateral jsonb_array_elements(coalesce(newest.definition -> 'knowledge', '[]')) given
    order by agents.name, agents.id`.execute(tx);
  return rows;
}

export interface NewCollection {
  id: string;
  user_id: string;
  name: string;
  description: string;
  tuning: Tuning;
  created_at: Date;
  updated_at: Date;
}

/** False: there is one of that name. */
export async function addCollection(tx: UserTx, { tuning, ...row }: NewCollection): Promise<boolean> {
  const added = await tx
    .insertInto('knowledge_collections')
    .values({ ...row, tuning: JSON.stringify(tuning) })
    .onConflict((conflict) => conflict.columns(['user_id', 'name']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return added !== undefined;
}

export const findByName = (tx: UserTx, name: string) =>
  tx.selectFrom('knowledge_collections').select('id').where('name', '=', name).executeTakeFirst();

/** Another model: none of the numbers that are there hold. */
interface Chosen {
  embeddings?: string | null;
  generation?: RawBuilder<number>;
  dimension?: null;
  changes?: 0;
  meaning_note?: null;
}

export const chosen = (embeddings: string | null): Required<Chosen> => ({
  embeddings,
  generation: sql<number>`case when embeddings is not distinct from ${embeddings} then generation else generation + 1 end`,
  dimension: null,
  changes: 0,
  meaning_note: null,
});

export async function changeCollection(
  tx: UserTx,
  id: string,
  values: { name?: string; description?: string; updated_at: Date } & Chosen,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('knowledge_collections')
    .set(values)
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function removeCollection(tx: UserTx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('knowledge_collections').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** How much somebody has. */
export async function countAll(tx: UserTx) {
  const { rows } = await sql<{ collections: number; documents: number; waiting: number; passages: number }>`
    select (select count(*) from knowledge_collections)::integer as collections,
      (select coalesce(sum(passages), 0) from knowledge_collections)::integer as passages,
      (count(*) filter (where state <> 'removed'))::integer as documents,
      (count(*) filter (where state = 'waiting'))::integer as waiting
    from knowledge_documents`.execute(tx);
  return rows[0]!;
}

const SHOWN = [
  'id',
  'name',
  'title',
  'source',
  'url',
  'kind',
  'state',
  'error',
  'notes',
  'bytes',
  'passages',
  'every_hours',
  'read_at',
  'next_read_at',
  'created_at',
] as const;

export const listDocuments = (tx: UserTx, collectionId: string, page: { limit: number; offset: number }) =>
  tx
    .selectFrom('knowledge_documents')
    .select(SHOWN)
    .where('collection_id', '=', collectionId)
    .where('state', '!=', 'removed')
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(page.limit)
    .offset(page.offset)
    .execute();

export const findDocument = (tx: UserTx, id: string) =>
  tx
    .selectFrom('knowledge_documents')
    .select(SHOWN)
    .where('id', '=', id)
    .where('state', '!=', 'removed')
    .executeTakeFirst();

export type DocumentRow = NonNullable<Awaited<ReturnType<typeof findDocument>>>;

export interface NewDocument {
  id: string;
  user_id: string;
  collection_id: string;
  name: string;
  source: 'file' | 'text' | 'url';
  url: string | null;
  bytes: number;
  every_hours: number | null;
  at: Date;
}

export async function addDocument(
  tx: UserTx,
  { at, ...row }: NewDocument,
  content: Uint8Array | undefined,
): Promise<void> {
  await tx
    .insertInto('knowledge_documents')
    .values({ ...row, state: 'waiting', created_at: at, updated_at: at })
    .execute();
  if (content)
    await tx
      .insertInto('knowledge_sources')
      .values({ document_id: row.id, user_id: row.user_id, content: Buffer.from(content) })
      .execute();
}

export const changeDocument = (
  tx: UserTx,
  id: string,
  values: { every_hours?: number | null; next_read_at?: Date | null; state?: 'waiting' | 'removed'; updated_at: Date },
) =>
  tx
    .updateTable('knowledge_documents')
    .set(values)
    .where('id', '=', id)
    .where('state', '!=', 'removed')
    .executeTakeFirst();
