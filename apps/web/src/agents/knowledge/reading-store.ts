import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

/** The rows of a document while it is read. */

export const documentToRead = (tx: UserTx, id: string) =>
  tx
    .selectFrom('knowledge_documents as d')
    .innerJoin('knowledge_collections as c', 'c.id', 'd.collection_id')
    .select([
      'd.id',
      'd.collection_id',
      'd.name',
      'd.source',
      'd.url',
      'd.state',
      'd.digest',
      'd.passages',
      'd.every_hours',
      'd.next_read_at',
      'c.tuning',
      'c.embeddings',
    ])
    .where('d.id', '=', id)
    .executeTakeFirst();

/** Under the lock of its collection: who deletes it meanwhile waits. */
export const holdDocument = (tx: UserTx, id: string) =>
  tx
    .selectFrom('knowledge_documents')
    .select(['id', 'state', 'first', 'passages', 'words'])
    // As one text, here too.
    .select(sql<string>`array_to_string(terms, ${'\n'})`.as('terms'))
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

export const sourceOf = (tx: UserTx, documentId: string) =>
  tx.selectFrom('knowledge_sources').select('content').where('document_id', '=', documentId).executeTakeFirst();

export const dropSource = (tx: UserTx, documentId: string) =>
  tx.deleteFrom('knowledge_sources').where('document_id', '=', documentId).execute();

export const dropDocument = (tx: UserTx, id: string) =>
  tx.deleteFrom('knowledge_documents').where('id', '=', id).execute();

export interface Read {
  state: 'ready' | 'failed';
  error: string | null;
  read_at: Date;
  next_read_at: Date | null;
  updated_at: Date;
  kind?: string;
  title?: string | null;
  notes?: string[];
  bytes?: number;
  digest?: string;
  first?: number;
  passages?: number;
  words?: number;
  /** Within a line each: a letter may stand for several words. */
  terms?: ReadonlySet<string>;
}

/** One that is to be deleted stays so. */
export const setRead = (tx: UserTx, id: string, { terms, ...values }: Read) =>
  tx
    .updateTable('knowledge_documents')
    // As one text: hundreds of thousands, each quoted for an array, would hold up everybody.
    .set({ ...values, ...(terms && { terms: sql<string[]>`string_to_array(${[...terms].join('\n')}, ${'\n'})` }) })
    .where('id', '=', id)
    .where('state', '!=', 'removed')
    .execute();

export const countPassages = (tx: UserTx) =>
  sql<{ passages: number }>`select coalesce(sum(passages), 0)::integer as passages from knowledge_collections`.execute(
    tx,
  );

/** What a collection has more, or less. */
export const countIn = (
  tx: UserTx,
  id: string,
  { passages, words, next }: { passages: number; words: number; next: number },
) =>
  sql`update knowledge_collections set passages = passages + ${passages}, words = words + ${words}, next = next + ${next}
    where id = ${id}`.execute(tx);
