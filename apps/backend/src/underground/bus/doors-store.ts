import type { SystemTx } from '@troupe/db';
import type { Parties } from '../parties.ts';

const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

export const findDoor = (tx: SystemTx, agentId: string) =>
  tx.selectFrom('agent_doors').selectAll().where('agent_id', '=', agentId).executeTakeFirst();

export interface DoorValues {
  open: boolean;
  contacts: string[];
  messages_per_day: number;
  messages_per_sender: number;
  updated_at: Date;
}

export const putDoor = (tx: SystemTx, agentId: string, userId: string, values: DoorValues) =>
  tx
    .insertInto('agent_doors')
    .values({ agent_id: agentId, user_id: userId, ...values })
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(values))
    .execute();

export async function isSameTeam(tx: SystemTx, { from, to }: Parties): Promise<boolean> {
  const rows = await tx
    .selectFrom('agents')
    .select('team_id')
    .where('id', 'in', [from.agentId, to.agentId])
    .where('team_id', 'is not', null)
    .execute();
  return rows.length === 2 && rows[0]!.team_id === rows[1]!.team_id;
}

/** Whether the recipient has written to the sender after that moment. */
export async function hasWritten(tx: SystemTx, { from, to }: Parties, after: Date): Promise<boolean> {
  const asked = await tx
    .selectFrom('bus_messages')
    .select('id')
    .where('from_agent_id', '=', to.agentId)
    .where('to_agent_id', '=', from.agentId)
    .where('created_at', '>', after)
    .limit(1)
    .executeTakeFirst();
  return asked !== undefined;
}

/** With this one; it is taken back with the transaction when the message is refused. */
export async function count(tx: SystemTx, { to }: Parties, sender: string, now: Date): Promise<number> {
  const { messages } = await tx
    .insertInto('agent_door_days')
    .values({ agent_id: to.agentId, user_id: to.userId, day: dayOf(now), sender, messages: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['agent_id', 'day', 'sender'])
        .doUpdateSet((eb) => ({ messages: eb('agent_door_days.messages', '+', 1) })),
    )
    .returning('messages')
    .executeTakeFirstOrThrow();
  return messages;
}

/** What all others together have sent it that day. */
export async function usedOn(tx: SystemTx, agentId: string, now: Date): Promise<number> {
  const used = await tx
    .selectFrom('agent_door_days')
    .select('messages')
    .where('agent_id', '=', agentId)
    .where('day', '=', dayOf(now))
    .where('sender', '=', '')
    .executeTakeFirst();
  return used?.messages ?? 0;
}

export const forgetDays = (tx: SystemTx, agentId: string, before: Date) =>
  tx.deleteFrom('agent_door_days').where('agent_id', '=', agentId).where('day', '<', dayOf(before)).execute();
