import type { SystemTx, UserTx } from '@troupe/db';
import { sql } from 'kysely';

export interface Sender {
  user_id: string;
  kind: string;
}

/** The agent's owner, when the wallet is one of the agent's. */
export const findSender = (tx: SystemTx, agentId: string, address: string): Promise<Sender | undefined> =>
  tx
    .selectFrom('agents as agent')
    .innerJoin('wallets as wallet', (join) =>
      join.onRef('wallet.agent_id', '=', 'agent.id').onRef('wallet.user_id', '=', 'agent.user_id'),
    )
    .select(['agent.user_id', 'wallet.kind'])
    .where('agent.id', '=', agentId)
    .where((eb) => eb(eb.fn('lower', ['wallet.address']), '=', address.toLowerCase()))
    .executeTakeFirst();

export const ownerOf = (tx: SystemTx, agentId: string): Promise<{ user_id: string } | undefined> =>
  tx.selectFrom('agents').select('user_id').where('id', '=', agentId).executeTakeFirst();

export interface NewMessage {
  id: string;
  message_id: string;
  from_agent_id: string;
  from_user_id: string;
  to_agent_id: string;
  to_user_id: string;
  action: string;
  message: string;
  created_at: Date;
}

/** False: the sender has sent this id before. Two at once: the second waits for the first. */
export async function addMessage(tx: SystemTx, message: NewMessage): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('bus_messages')
    .values(message)
    .onConflict((conflict) => conflict.columns(['from_agent_id', 'message_id']).doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export const setAdded = (tx: SystemTx, id: string, added: Record<string, string>) =>
  tx.updateTable('bus_messages').set({ added }).where('id', '=', id).execute();

/** How many the user's agents have sent that day, this one included. */
export async function countMessage(tx: SystemTx, userId: string, now: Date): Promise<number> {
  const { messages } = await tx
    .insertInto('bus_days')
    .values({ user_id: userId, day: now.toISOString().slice(0, 10), messages: 1 })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'day']).doUpdateSet((eb) => ({ messages: eb('bus_days.messages', '+', 1) })),
    )
    .returning('messages')
    .executeTakeFirstOrThrow();
  return messages;
}

/** Counts a try of a message that is still to be delivered; with the webhook that its recipient has now. */
export const takeAttempt = (tx: SystemTx, id: string) =>
  tx
    .updateTable('bus_messages')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .returning([
      'id',
      'from_agent_id',
      'from_user_id',
      'to_agent_id',
      'to_user_id',
      'message',
      'added',
      'attempts',
      'last_error',
    ])
    .returning(
      sql<string | null>`(select definition -> 'config' ->> 'webhookUrl' from agent_definitions
        where agent_id = bus_messages.to_agent_id order by version desc limit 1)`.as('webhook'),
    )
    .executeTakeFirst();
export type QueuedMessage = NonNullable<Awaited<ReturnType<typeof takeAttempt>>>;

export const markDelivered = (tx: SystemTx, id: string, at: Date) =>
  tx
    .updateTable('bus_messages')
    .set({ status: 'delivered', delivered_at: at, last_error: null })
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .execute();

/** False: it was delivered after all. */
export async function markFailed(tx: SystemTx, id: string, why: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('bus_messages')
    .set({ status: 'failed', last_error: why })
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export const noteError = (tx: SystemTx, id: string, why: string) =>
  tx.updateTable('bus_messages').set({ last_error: why }).where('id', '=', id).execute();

export const listMessages = (tx: UserTx, agentId: string | undefined, limit: number) =>
  tx
    .selectFrom('bus_messages')
    .selectAll()
    .$if(agentId !== undefined, (query) =>
      query.where((eb) => eb.or([eb('from_agent_id', '=', agentId!), eb('to_agent_id', '=', agentId!)])),
    )
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
