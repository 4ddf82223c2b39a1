import type { Database, SystemTx } from '@troupe/db';
import { sql } from 'kysely';

/** What was asked and answered, as JSON that is kept as it was. */
export interface Kept {
  id: string;
  previous: string | null;
  input: Item[];
  response: Record<string, unknown> & { output: Item[] };
}

export type Item = { type: string } & Record<string, unknown>;

export interface NewResponse {
  id: string;
  userId: string;
  previous: string | null;
  /** Both are JSON already: their length is what counts against the user's share. */
  input: string;
  response: string;
  at: Date;
}

export const sizeOf = ({ input, response }: NewResponse): number =>
  Buffer.byteLength(input) + Buffer.byteLength(response);

/** Several of one user: all of them, or none. */
export const put = (db: Database, userId: string, rows: readonly NewResponse[]) =>
  sql`
    insert into stored_responses (id, user_id, previous, input, response, bytes, created_at)
    select id, ${userId}, previous, input::json, response::json, bytes, at
    from unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ previous }) => previous)}::text[],
      ${rows.map(({ input }) => input)}::text[], ${rows.map(({ response }) => response)}::text[],
      ${rows.map(sizeOf)}::integer[], ${rows.map(({ at }) => at.toISOString())}::timestamptz[])
      as given (id, previous, input, response, bytes, at)`.execute(db.user(userId));

const COLUMNS = ['id', 'previous', 'input', 'response'] as const;

export const find = async (db: Database, userId: string, ids: readonly string[]): Promise<Kept[]> =>
  ids.length === 0
    ? []
    : ((await db
        .user(userId)
        .selectFrom('stored_responses')
        .select(COLUMNS)
        .where('id', 'in', ids)
        .execute()) as unknown as Kept[]);

export const bytesOf = async (db: Database, userId: string, ids: readonly string[]): Promise<number> => {
  const { bytes } = await db
    .user(userId)
    .selectFrom('stored_responses')
    .select(({ fn }) => fn.coalesce(fn.sum<string>('bytes'), sql<string>`0`).as('bytes'))
    .where('id', 'in', ids)
    .executeTakeFirstOrThrow();
  return Number(bytes);
};

/** How a conversation hangs together, the newest first, without its contents: they may be more than anybody may ask for. */
export const chain = async (db: Database, userId: string, id: string, most: number) => {
  const { rows } = await sql<{ id: string; previous: string | null; bytes: number }>`
    with recursive chain as (
      select id, previous, bytes, 1 as place from stored_responses where id = ${id}
      union all
      select before.id, before.previous, before.bytes, chain.place + 1
      from chain join stored_responses before on before.id = chain.previous where chain.place < ${most}::int
    )
    select id, previous, bytes from chain order by place`.execute(db.user(userId));
  return rows;
};

export const remove = async (db: Database, userId: string, id: string): Promise<boolean> => {
  const { numDeletedRows } = await db
    .user(userId)
    .deleteFrom('stored_responses')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
};

/** The age is read from an index; a piece at a time, so that nobody waits for it. */
export const forgetBefore = (tx: SystemTx, before: Date) =>
  tx
    .deleteFrom('stored_responses')
    .where('id', 'in', (query) =>
      query.selectFrom('stored_responses').select('id').where('created_at', '<', before).limit(1000),
    )
    .execute();
