import type { UndergroundEvent } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { formatAmount, parseAmount } from '@troupe/domain';
import { AppError, iso, newId, type Clock } from '@troupe/kernel';
import { USD_DECIMALS, walletAccount, type Ledger } from '@troupe/ledger';
import type { MustOwn } from '../access.ts';
import { otherRequest } from '../idempotency.ts';
import type { Admit } from '../spending.ts';
import type { AgentWallets } from '../wallets/service.ts';
import * as store from './store.ts';

export interface EventsDeps {
  db: Database;
  clock: Clock;
  ledger: Ledger;
  wallets: Pick<AgentWallets, 'platformWallet' | 'addressesOf'>;
  mustOwn: MustOwn;
  admit: Admit;
}

interface NewEvent {
  agentId: string;
  name: string;
  description: string;
  venue: string;
  eventDate: string;
  ticketPriceUsdc: string;
  totalTickets: number;
}

interface Order {
  agentId: string;
  quantity: number;
  key: string | null;
}

const shown = (row: store.EventRow): UndergroundEvent => ({
  id: Number(row.id),
  agent_id: row.agent_id,
  name: row.name,
  description: row.description,
  venue: row.venue,
  event_date: iso(row.event_date),
  ticket_price_usdc: row.ticket_price_usdc,
  total_tickets: row.total_tickets,
  tickets_sold: row.sold,
});

const eventId = (id: string): bigint => {
  if (!/^\d{1,15}$/.test(id)) throw new AppError(404, 'Event not found');
  return BigInt(id);
};

const priceOf = (price: string): bigint => {
  const units = parseAmount(price, USD_DECIMALS);
  if (units === null) throw new AppError(400, 'Invalid ticketPriceUsdc');
  return units;
};

interface Payment {
  ticketId: string;
  agentId: string;
  userId: string;
  payee: string;
  units: bigint;
}

/** Out of the first of the agent's wallets that covers it. */
async function pay(
  { ledger, wallets, admit }: Pick<EventsDeps, 'ledger' | 'wallets' | 'admit'>,
  tx: SystemTx,
  { ticketId, agentId, userId, payee, units }: Payment,
): Promise<void> {
  const accounts = (await wallets.addressesOf(tx, userId, agentId)).map((address) => walletAccount(address).id);
  const balance = await ledger.balances(tx, accounts);
  const from = accounts.find((id) => balance(id).available >= units);
  if (from === undefined) throw new AppError(402, 'Insufficient balance');
  const to = walletAccount(payee);
  // One's own event out of the same wallet: nothing moves.
  if (from === to.id) return;
  await admit(tx, { userId, agentId, method: 'ticket', payments: [{ recipient: payee, units }] });
  await ledger.open(tx, [to]);
  await ledger.post(tx, {
    key: `ticket:${ticketId}`,
    kind: 'ticket',
    entries: [
      { account: from, amount: -units },
      { account: to.id, amount: units },
    ],
    meta: { ticketId, agentId },
  });
}

/** The purchase that was made with this key before. */
async function repeated(tx: SystemTx, userId: string, id: bigint, { agentId, quantity, key }: Order) {
  const before = key === null ? undefined : await store.ticketByKey(tx, userId, key);
  if (before && (before.event_id !== id || before.agent_id !== agentId || before.quantity !== quantity))
    throw otherRequest();
  return before;
}

const receipt = (ticket: store.TicketRow) => ({
  success: true as const,
  ticketId: ticket.id,
  eventId: Number(ticket.event_id),
  agentId: ticket.agent_id,
  quantity: ticket.quantity,
  totalUsdc: formatAmount(ticket.units, USD_DECIMALS),
});

/** Tickets of events. */
function selling({ db, clock, ledger, wallets, mustOwn, admit }: EventsDeps) {
  return {
    async buy(userId: string, id: string, order: Order) {
      const { agentId, quantity, key } = order;
      await mustOwn(userId, agentId);
      const event = eventId(id);
      return db.asSystem(async (tx) => {
        // The event's row is the lock: whoever comes at the same moment counts after us.
        const row = await store.lockEvent(tx, event);
        if (!row) throw new AppError(404, 'Event not found');
        const before = await repeated(tx, userId, event, order);
        if (before) return receipt(before);
        const available = row.total_tickets - row.sold;
        if (quantity > available) throw new AppError(409, 'Not enough tickets left', { available });
        await store.countSold(tx, event, quantity);
        const units = priceOf(row.ticket_price_usdc) * BigInt(quantity);
        const ticket = await store.addTicket(tx, {
          id: newId(),
          event_id: event,
          user_id: userId,
          agent_id: agentId,
          quantity,
          units,
          idempotency_key: key,
          created_at: clock(),
        });
        // The same key at once for another event.
        if (!ticket) throw otherRequest();
        if (units > 0n && row.payee !== null)
          await pay({ ledger, wallets, admit }, tx, { ticketId: ticket.id, agentId, userId, payee: row.payee, units });
        return receipt(ticket);
      });
    },
  };
}

export type Events = ReturnType<typeof createEvents>;

export function createEvents(deps: EventsDeps) {
  const { db, clock, wallets, mustOwn } = deps;
  return {
    async list(userId: string, page: { limit: number; offset: number }): Promise<UndergroundEvent[]> {
      return (await store.listEvents(db.user(userId), page)).map(shown);
    },

    async get(id: string): Promise<UndergroundEvent> {
      const row = await store.findEvent(db.system, eventId(id));
      if (!row) throw new AppError(404, 'Event not found');
      return shown(row);
    },

    async create(userId: string, given: NewEvent): Promise<UndergroundEvent> {
      const { agentId, name, description, venue, eventDate, ticketPriceUsdc, totalTickets } = given;
      await mustOwn(userId, agentId);
      const isFree = priceOf(ticketPriceUsdc) === 0n;
      const payee = isFree ? null : (await wallets.platformWallet({ userId, agentId })).wallet.address;
      const row = await store.addEvent(db.user(userId), {
        user_id: userId,
        agent_id: agentId,
        name,
        description,
        venue,
        event_date: new Date(eventDate),
        ticket_price_usdc: ticketPriceUsdc,
        payee,
        total_tickets: totalTickets,
        created_at: clock(),
      });
      return shown(row);
    },

    ...selling(deps),
  };
}
