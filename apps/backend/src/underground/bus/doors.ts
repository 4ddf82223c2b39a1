import type { AgentDoor } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { AppError, type Clock } from '@troupe/kernel';
import type { MustOwn } from '../access.ts';
import type { Parties } from '../parties.ts';
import * as store from './doors-store.ts';

/** What an agent's owner lets others send it, until the owner says otherwise. */
const CLOSED = { open: false, contacts: [] as string[], messagesPerDay: 100, messagesPerSender: 20 };
/** Whom the agent has written to itself may answer for so long. */
const ANSWER_MS = 7 * 86_400_000;
/** Days are counted by the day; what lies this far back is of no use. */
const KEPT_MS = 7 * 86_400_000;

export interface DoorDeps {
  db: Database;
  clock: Clock;
  mustOwn: MustOwn;
}

export type Doors = ReturnType<typeof createDoors>;

/** Every message that an agent takes costs its owner: others need the owner's consent, and stay within a budget. */
export function createDoors({ db, clock, mustOwn }: DoorDeps) {
  async function find(tx: SystemTx, agentId: string) {
    const row = await store.findDoor(tx, agentId);
    if (!row) return CLOSED;
    return {
      open: row.open,
      contacts: row.contacts,
      messagesPerDay: row.messages_per_day,
      messagesPerSender: row.messages_per_sender,
    };
  }

  const shown = async (tx: SystemTx, agentId: string): Promise<AgentDoor> => ({
    agentId,
    ...(await find(tx, agentId)),
    usedToday: await store.usedOn(tx, agentId, clock()),
  });

  return {
    /** Throws unless the recipient's owner lets the sender in. Part of the transaction that stores the message. */
    async admit(tx: SystemTx, parties: Parties): Promise<void> {
      const { from, to } = parties;
      if (from.userId === to.userId) return;
      const now = clock();
      if (await store.isSameTeam(tx, parties)) return;
      const door = await find(tx, to.agentId);
      const mayAnswer = () => store.hasWritten(tx, parties, new Date(now.getTime() - ANSWER_MS));
      if (!(door.open || door.contacts.includes(from.agentId) || (await mayAnswer())))
        throw new AppError(
          403,
          'The agent takes no messages from strangers. Its owner can add your agent to its contacts or open its door.',
        );
      if ((await store.count(tx, parties, from.userId, now)) > door.messagesPerSender)
        throw new AppError(429, `The agent takes ${door.messagesPerSender} messages a day from one sender`);
      if ((await store.count(tx, parties, '', now)) > door.messagesPerDay)
        throw new AppError(429, `The agent takes ${door.messagesPerDay} messages a day from others`);
    },

    async read(userId: string, agentId: string): Promise<AgentDoor> {
      await mustOwn(userId, agentId);
      return db.asSystem((tx) => shown(tx, agentId));
    },

    async set(userId: string, agentId: string, given: Partial<typeof CLOSED>): Promise<AgentDoor> {
      await mustOwn(userId, agentId);
      return db.asSystem(async (tx) => {
        const door = { ...(await find(tx, agentId)), ...given };
        await store.putDoor(tx, agentId, userId, {
          open: door.open,
          contacts: [...new Set(door.contacts)],
          messages_per_day: door.messagesPerDay,
          messages_per_sender: door.messagesPerSender,
          updated_at: clock(),
        });
        await store.forgetDays(tx, agentId, new Date(clock().getTime() - KEPT_MS));
        return shown(tx, agentId);
      });
    },
  };
}
