import type { AgentDoor } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { AppError, type Clock } from '@troupe/kernel';
import { mustOwn } from './access.ts';
import type { Parties } from './negotiation.ts';

/** What an agent's owner lets others send it, until the owner says otherwise. */
const CLOSED = { open: false, contacts: [] as string[], messagesPerDay: 100, messagesPerSender: 20 };
/** Whom the agent has written to itself may answer for so long. */
const ANSWER_MS = 7 * 86_400_000;
/** Days are counted by the day; what lies this far back is of no use. */
const KEPT_DAYS = 7;

const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

export type Doors = ReturnType<typeof createDoors>;

/** Every message that an agent takes costs its owner: others need the owner's consent, and stay within a budget. */
export function createDoors({ db, clock }: { db: Database; clock: Clock }) {
  async function find(tx: SystemTx, agentId: string) {
    const row = await tx.selectFrom('agent_doors').selectAll().where('agent_id', '=', agentId).executeTakeFirst();
    if (!row) return CLOSED;
    return {
      open: row.open,
      contacts: row.contacts,
      messagesPerDay: row.messages_per_day,
      messagesPerSender: row.messages_per_sender,
    };
  }

  async function isSameTeam(tx: SystemTx, { from, to }: Parties): Promise<boolean> {
    const rows = await tx
      .selectFrom('agents')
      .select('team_id')
      .where('id', 'in', [from.agentId, to.agentId])
      .where('team_id', 'is not', null)
      .execute();
    return rows.length === 2 && rows[0]!.team_id === rows[1]!.team_id;
  }

  async function isAnswer(tx: SystemTx, { from, to }: Parties, now: Date): Promise<boolean> {
    const asked = await tx
      .selectFrom('bus_messages')
      .select('id')
      .where('from_agent_id', '=', to.agentId)
      .where('to_agent_id', '=', from.agentId)
      .where('created_at', '>', new Date(now.getTime() - ANSWER_MS))
      .limit(1)
      .executeTakeFirst();
    return asked !== undefined;
  }

  /** With this one; it is taken back with the transaction when the message is refused. */
  async function count(tx: SystemTx, { to }: Parties, sender: string, now: Date): Promise<number> {
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

  async function shown(tx: SystemTx, agentId: string): Promise<AgentDoor> {
    const used = await tx
      .selectFrom('agent_door_days')
      .select('messages')
      .where('agent_id', '=', agentId)
      .where('day', '=', dayOf(clock()))
      .where('sender', '=', '')
      .executeTakeFirst();
    return { agentId, ...(await find(tx, agentId)), usedToday: used?.messages ?? 0 };
  }

  return {
    /** Throws unless the recipient's owner lets the sender in. Part of the transaction that stores the message. */
    async admit(tx: SystemTx, parties: Parties): Promise<void> {
      const { from, to } = parties;
      if (from.userId === to.userId) return;
      const now = clock();
      if (await isSameTeam(tx, parties)) return;
      const door = await find(tx, to.agentId);
      const allowed = door.open || door.contacts.includes(from.agentId) || (await isAnswer(tx, parties, now));
      if (!allowed)
        throw new AppError(
          403,
          'The agent takes no messages from strangers. Its owner can add your agent to its contacts or open its door.',
        );
      if ((await count(tx, parties, from.userId, now)) > door.messagesPerSender)
        throw new AppError(429, `The agent takes ${door.messagesPerSender} messages a day from one sender`);
      if ((await count(tx, parties, '', now)) > door.messagesPerDay)
        throw new AppError(429, `The agent takes ${door.messagesPerDay} messages a day from others`);
    },

    async read(userId: string, agentId: string): Promise<AgentDoor> {
      await mustOwn(db, userId, agentId);
      return db.asSystem((tx) => shown(tx, agentId));
    },

    async set(userId: string, agentId: string, given: Partial<typeof CLOSED>): Promise<AgentDoor> {
      await mustOwn(db, userId, agentId);
      return db.asSystem(async (tx) => {
        const door = { ...(await find(tx, agentId)), ...given };
        const values = {
          open: door.open,
          contacts: [...new Set(door.contacts)],
          messages_per_day: door.messagesPerDay,
          messages_per_sender: door.messagesPerSender,
          updated_at: clock(),
        };
        await tx
          .insertInto('agent_doors')
          .values({ agent_id: agentId, user_id: userId, ...values })
          .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(values))
          .execute();
        const old = new Date(clock().getTime() - KEPT_DAYS * 86_400_000);
        await tx.deleteFrom('agent_door_days').where('agent_id', '=', agentId).where('day', '<', dayOf(old)).execute();
        return shown(tx, agentId);
      });
    },
  };
}
