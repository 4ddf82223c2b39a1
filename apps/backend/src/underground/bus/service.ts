import type { Accounts } from '@troupe/accounts';
import {
  busMessageSigned,
  ChainUnavailable,
  signBusMessage,
  type Address,
  type Verifier,
  type Wallets,
} from '@troupe/chain';
import { BUS_MESSAGE_BYTES, type BusMessage, type LoggedMessage, type UnsignedBusMessage } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { ownPlan, PLAN_LIMITS } from '@troupe/domain';
import { AppError, iso, isoOrNull, newId, type Clock } from '@troupe/kernel';
import type { MustOwn } from '../access.ts';
import type { Negotiate } from '../negotiation/service.ts';
import type { Parties } from '../parties.ts';
import type { Delivery } from './delivery.ts';
import type { Doors } from './doors.ts';
import * as store from './store.ts';

export interface BusDeps {
  db: Database;
  clock: Clock;
  accounts: Pick<Accounts, 'users' | 'toUser' | 'subscriber'>;
  wallets: Wallets;
  /** Of keys: all that wallets made here can sign with. */
  verifier: Verifier;
  /** Also of contracts; undefined where no network is configured. */
  contracts: Verifier | undefined;
  mustOwn: MustOwn;
  /** What the platform itself does with a message, within the transaction that stores it. */
  negotiate: Negotiate;
  delivery: Delivery;
  doors: Pick<Doors, 'admit'>;
}

const WINDOW_MS = 5 * 60_000;

const notSigned = (reason: string): AppError => new AppError(401, 'Invalid message signature', { reason });

/** Who sent a message, by its signature. */
function createSenders({ db, clock, verifier, contracts }: BusDeps) {
  async function signedByContract(message: BusMessage, by: Address): Promise<boolean> {
    if (contracts === undefined) return false;
    try {
      return await busMessageSigned(contracts, { message, by });
    } catch (error) {
      if (error instanceof ChainUnavailable) throw new AppError(503, 'Verification unavailable', {}, { cause: error });
      throw error;
    }
  }

  /** The sender's owner; 401 unless one of the agent's wallets signed this, just now. */
  async function senderOf(message: BusMessage): Promise<string> {
    if (!(Math.abs(clock().getTime() - Date.parse(message.timestamp)) <= WINDOW_MS))
      throw notSigned('The timestamp is more than 5 minutes away');
    const { agentId, walletAddress } = message.from;
    const by = walletAddress as Address;
    // Before the database is asked: a flood of bad messages must not reach it.
    const byKey = await busMessageSigned(verifier, { message, by });
    if (!byKey && contracts === undefined) throw notSigned('The signature is not the wallet’s');
    const sender = await store.findSender(db.system, agentId, walletAddress);
    if (!sender) throw notSigned('The wallet is not registered for the agent');
    if (!byKey && !(sender.kind === 'own' && (await signedByContract(message, by))))
      throw notSigned('The signature is not the wallet’s');
    return sender.user_id;
  }

  return senderOf;
}

/** Takes messages in, within the sender’s plan and the recipient’s door. */
function createAccepting({ db, clock, accounts, negotiate, delivery, doors }: BusDeps) {
  async function dailyLimit(tx: SystemTx, userId: string): Promise<number> {
    const row = await accounts.users.byId(tx, userId);
    const plan = row && ownPlan(accounts.subscriber(accounts.toUser(row, null)));
    return PLAN_LIMITS[plan ?? 'solo'].messagesPerDay;
  }

  /** All of it or nothing: a message that is refused was not sent, and its id is still free. */
  const accept = (message: BusMessage, parties: Parties): Promise<Record<string, string>> =>
    db.asSystem(async (tx) => {
      const { from, to } = parties;
      const id = newId();
      const now = clock();
      const isNew = await store.addMessage(tx, {
        id,
        message_id: message.messageId,
        from_agent_id: from.agentId,
        from_user_id: from.userId,
        to_agent_id: to.agentId,
        to_user_id: to.userId,
        action: message.action,
        message: JSON.stringify(message),
        created_at: now,
      });
      if (!isNew) return {};
      await doors.admit(tx, parties);
      const limit = await dailyLimit(tx, from.userId);
      if ((await store.countMessage(tx, from.userId, now)) > limit)
        throw new AppError(429, `Daily message limit reached (${limit} on your plan)`);
      const added = await negotiate(tx, parties, message);
      if (Object.keys(added).length > 0) await store.setAdded(tx, id, added);
      await delivery.queue(tx, id, to.userId);
      return added;
    });

  return accept;
}

/** Messages of agents whose keys the platform has. */
function signing({ wallets, mustOwn }: BusDeps) {
  return {
    async sign(userId: string, message: UnsignedBusMessage): Promise<{ message: BusMessage }> {
      const { agentId, walletAddress } = message.from;
      await mustOwn(userId, agentId);
      const owner = { userId, agentId };
      const wallet = (await wallets.list(owner)).find(({ kind }) => kind === 'platform');
      if (!wallet) throw new AppError(404, 'Agent has no platform wallet');
      if (walletAddress !== undefined && walletAddress.toLowerCase() !== wallet.address.toLowerCase())
        throw new AppError(400, 'from.walletAddress is not the wallet that the platform made for the agent');
      const account = await wallets.account(owner, wallet.address);
      if (!account) throw new Error('a platform wallet has no key');
      const whole = { ...message, from: { ...message.from, walletAddress: walletAddress ?? wallet.address } };
      try {
        return { message: { ...whole, signature: await signBusMessage(account, whole) } };
      } catch (error) {
        if (error instanceof TypeError) throw new AppError(400, error.message, {}, { cause: error });
        throw error;
      }
    },
  };
}

export type Bus = ReturnType<typeof createBus>;

export function createBus(deps: BusDeps) {
  const { db } = deps;
  const senderOf = createSenders(deps);
  const accept = createAccepting(deps);

  return {
    async send(message: BusMessage) {
      if (Buffer.byteLength(JSON.stringify(message)) > BUS_MESSAGE_BYTES)
        throw new AppError(413, 'Message too large (max 16 KB)');
      const userId = await senderOf(message);
      const recipient = await store.ownerOf(db.system, message.to.agentId);
      if (!recipient) throw new AppError(404, 'Recipient agent not found');
      const { bookingId, requestId } = await accept(message, {
        from: { agentId: message.from.agentId, userId },
        to: { agentId: message.to.agentId, userId: recipient.user_id },
      });
      return { success: true as const, messageId: message.messageId, bookingId, requestId };
    },

    ...signing(deps),
    async list(userId: string, agentId: string | undefined, limit: number) {
      const rows = await store.listMessages(db.user(userId), agentId, limit);
      const messages = rows.map((row): LoggedMessage => {
        const [isFrom, isTo] = [row.from_user_id === userId, row.to_user_id === userId];
        return {
          id: row.id,
          messageId: row.message_id,
          action: row.action,
          fromAgentId: row.from_agent_id,
          toAgentId: row.to_agent_id,
          direction: isFrom && isTo ? 'both' : isFrom ? 'sent' : 'received',
          payload: (JSON.parse(row.message) as BusMessage).payload,
          status: row.status,
          attempts: row.attempts,
          error: row.last_error,
          createdAt: iso(row.created_at),
          deliveredAt: isoOrNull(row.delivered_at),
        };
      });
      return { messages, count: messages.length };
    },
  };
}
