import type { SignedTransaction } from '@troupe/chain';
import type { SystemTx, Tables, UserTx } from '@troupe/db';
import { sql, type Insertable, type Selectable } from 'kysely';

export type SplitRow = Selectable<Tables['splits']>;
export type PartRow = Selectable<Tables['split_parts']>;

/** Undefined: the user has used the key. Two at once: the second waits for the first. */
export const addSplit = (tx: SystemTx, split: Insertable<Tables['splits']>): Promise<SplitRow | undefined> =>
  tx
    .insertInto('splits')
    .values(split)
    .onConflict((conflict) => conflict.columns(['user_id', 'idempotency_key']).doNothing())
    .returningAll()
    .executeTakeFirst();

export const addParts = (tx: SystemTx, parts: Insertable<Tables['split_parts']>[]) =>
  tx.insertInto('split_parts').values(parts).execute();

export const splitByKey = (tx: SystemTx, userId: string, key: string): Promise<SplitRow | undefined> =>
  tx
    .selectFrom('splits')
    .selectAll()
    .where('user_id', '=', userId)
    .where('idempotency_key', '=', key)
    .executeTakeFirst();

export const findSplit = (tx: SystemTx, id: string): Promise<SplitRow | undefined> =>
  tx.selectFrom('splits').selectAll().where('id', '=', id).executeTakeFirst();

/** One is some 400 bytes in an answer: 2 MB at most. */
const PARTS_IN_PAGE = 5000;

/** A page of them, fewer than `limit` where they have many parts; `found` counts one more than `limit` where there is one. */
export const listSplits = (tx: UserTx, { limit, offset }: { limit: number; offset: number }) =>
  tx
    .with('page', (from) =>
      from
        .selectFrom('splits')
        .selectAll('splits')
        .select((eb) =>
          eb
            .selectFrom('split_parts')
            .whereRef('split_parts.split_id', '=', 'splits.id')
            .select((of) => of.fn.countAll<bigint>().as('parts'))
            .as('parts'),
        )
        .orderBy('number', 'desc')
        .limit(limit + 1)
        .offset(offset),
    )
    .with('sized', (from) =>
      from
        .selectFrom('page')
        .selectAll()
        .select(sql<bigint>`sum(parts) over (order by number desc) - parts`.as('before'))
        .select(sql<number>`(count(*) over ())::integer`.as('found')),
    )
    .selectFrom('sized')
    .selectAll()
    .where(sql<boolean>`before < ${PARTS_IN_PAGE}`)
    .orderBy('number', 'desc')
    .execute();

export const partsOf = (tx: SystemTx | UserTx, splitIds: string[]): Promise<PartRow[]> =>
  splitIds.length === 0
    ? Promise.resolve([])
    : tx.selectFrom('split_parts').selectAll().where('split_id', 'in', splitIds).orderBy('position').execute();

export const partsThatAre = (tx: SystemTx, splitId: string, status: PartRow['status']): Promise<PartRow[]> =>
  tx
    .selectFrom('split_parts')
    .selectAll()
    .where('split_id', '=', splitId)
    .where('status', '=', status)
    .orderBy('position')
    .execute();

type Part = Pick<PartRow, 'split_id' | 'position'>;

/** False: somebody else has sent it meanwhile, so this transaction must not be. */
export async function markSent(tx: SystemTx, part: Part, transaction: SignedTransaction): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('split_parts')
    .set({
      status: 'sent',
      transaction_hash: transaction.hash,
      transaction_raw: transaction.raw,
      transaction_nonce: transaction.nonce,
      transaction_from: transaction.from,
    })
    .where('split_id', '=', part.split_id)
    .where('position', '=', part.position)
    .where('status', '=', 'pending')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** False: it is not in that state any more. */
export async function changeStatus(
  tx: SystemTx,
  part: Part,
  from: PartRow['status'],
  to: PartRow['status'],
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('split_parts')
    .set({ status: to })
    .where('split_id', '=', part.split_id)
    .where('position', '=', part.position)
    .where('status', '=', from)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
