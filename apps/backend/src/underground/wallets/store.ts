import type { SystemTx, UserTx } from '@troupe/db';

/** The wallets of the user's agents. */
export const agentWallets = (tx: UserTx) =>
  tx
    .selectFrom('wallets')
    .select(['address', 'agent_id', 'kind', 'created_at'])
    .where('agent_id', 'is not', null)
    .orderBy('created_at')
    .execute();

export const ownAddress = (tx: UserTx, address: string): Promise<{ id: string } | undefined> =>
  tx
    .selectFrom('wallets')
    .select('id')
    .where((eb) => eb(eb.fn('lower', ['address']), '=', address.toLowerCase()))
    .executeTakeFirst();

/** The agent's addresses, the first wallet first. */
export const addressesOf = async (tx: SystemTx, userId: string, agentId: string): Promise<string[]> =>
  (
    await tx
      .selectFrom('wallets')
      .select('address')
      .where('user_id', '=', userId)
      .where('agent_id', '=', agentId)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
  ).map(({ address }) => address);
