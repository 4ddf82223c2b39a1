import type { Database, SystemTx, UserTx } from '@troupe/db';
import { sql } from 'kysely';

/** What was asked and answered, as JSON that is kept as it was. */
export interface Kept {
  id: string;
  previous: string | null;
  input: Item[];
  response: Record<string, unknown> & { output: Item[] };
}

export type Item = { type: string } & Record<string, unknown>;

interface NewResponse {
  id: string;
  userId: string;
  previous: string | null;
  /** Both are JSON already: their length is what counts against the user's share. */
  input: string;
  response: string;
  at: Date;
}

export const put = (tx: UserTx, { id, userId, previous, input, response, at }: NewResponse) =>
  tx
    .insertInto('stored_responses')
    .values({
      id,
      user_id: userId,
      previous,
      input: sql`${input}::json`,
      response: sql`${response}::json`,
      bytes: Buffer.byteLength(input) + Buffer.byteLength(response),
      created_at: at,
    })
    .execute();

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
