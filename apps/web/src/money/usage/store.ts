import type { UserTx } from '@troupe/db';

export async function agentsOf(tx: UserTx): Promise<{ id: string; name: string; status: string }[]> {
  return tx.selectFrom('agents').select(['id', 'name', 'status']).execute();
}

export async function creditMicros(tx: UserTx, userId: string): Promise<bigint> {
  const row = await tx.selectFrom('users').select('credit_micros').where('id', '=', userId).executeTakeFirst();
  return row?.credit_micros ?? 0n;
}

export const hasTeam = async (tx: UserTx, id: string): Promise<boolean> =>
  (await tx.selectFrom('teams').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
