import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

export interface PaymentSession {
  id: string;
  address: string;
  userAddress: string;
  sandbox: boolean;
  accountId: string;
  holdId: bigint;
  deposit: bigint;
  spent: bigint;
  pending: bigint;
  status: 'active' | 'settling' | 'closed';
  closing: boolean;
  createdAt: Date;
  lastSettledAt: Date;
}

export interface NewVoucher {
  sessionId: string;
  plugin: string;
  units: bigint;
  nonce: string;
  signature: string;
}

export interface ListedVoucher {
  plugin: string;
  units: bigint;
  at: Date;
}

const MAX_SESSIONS = 100;
const MAX_VOUCHERS = 200;

interface Row {
  id: string;
  address: string;
  user_address: string;
  sandbox: boolean;
  account_id: string;
  hold_id: bigint;
  deposit: bigint;
  spent: bigint;
  pending: bigint;
  status: PaymentSession['status'];
  closing: boolean;
  created_at: Date;
  last_settled_at: Date | null;
}

const sessionOf = (row: Row): PaymentSession => ({
  id: row.id,
  address: row.address,
  userAddress: row.user_address,
  sandbox: row.sandbox,
  accountId: row.account_id,
  holdId: row.hold_id,
  deposit: row.deposit,
  spent: row.spent,
  pending: row.pending,
  status: row.status,
  closing: row.closing,
  createdAt: row.created_at,
  lastSettledAt: row.last_settled_at ?? row.created_at,
});

/** Sessions and vouchers. Whoever changes a session holds its row, so that each sum is right. */

const select = (tx: SystemTx) => tx.selectFrom('payment_sessions').selectAll();
const first = async (query: { executeTakeFirst: () => Promise<Row | undefined> }) => {
  const row = await query.executeTakeFirst();
  return row === undefined ? null : sessionOf(row);
};

export const find = (tx: SystemTx, id: string) => first(select(tx).where('id', '=', id));

// A voucher's reference keeps the row's key: `for update` would wait for it, and two of them for each other.
export const lock = (tx: SystemTx, id: string) => first(select(tx).where('id', '=', id).forNoKeyUpdate());

/** Opening and closing for one address take turns. */
export async function takeTurn(tx: SystemTx, address: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`payment session ${address}`}, 0))`.execute(tx);
}

export const open = (tx: SystemTx, address: string) =>
  first(select(tx).where('address', '=', address).where('closing', '=', false));

export async function list(tx: SystemTx, address: string): Promise<PaymentSession[]> {
  const rows = await select(tx)
    .where('address', '=', address)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(MAX_SESSIONS)
    .execute();
  return rows.map(sessionOf);
}

export async function add(
  tx: SystemTx,
  session: Pick<PaymentSession, 'id' | 'address' | 'userAddress' | 'sandbox' | 'accountId' | 'holdId' | 'deposit'>,
  now: Date,
): Promise<PaymentSession> {
  const row = await tx
    .insertInto('payment_sessions')
    .values({
      id: session.id,
      address: session.address,
      user_address: session.userAddress,
      sandbox: session.sandbox,
      account_id: session.accountId,
      hold_id: session.holdId,
      deposit: session.deposit,
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return sessionOf(row);
}

/** Spends; null when the session takes no vouchers, or has not that much. */
export const spend = (tx: SystemTx, id: string, units: bigint, pending: bigint) =>
  first(
    tx
      .updateTable('payment_sessions')
      .set((eb) => ({ spent: eb('spent', '+', units), pending: eb('pending', '+', pending) }))
      .where('id', '=', id)
      .where('closing', '=', false)
      .where(sql<boolean>`spent + ${units} <= deposit`)
      .returningAll(),
  );

export const update = async (
  tx: SystemTx,
  id: string,
  set: Partial<Record<'spent' | 'pending' | 'hold_id', bigint>> & {
    status?: PaymentSession['status'];
    closing?: boolean;
    last_settled_at?: Date;
  },
): Promise<PaymentSession> =>
  sessionOf(
    await tx.updateTable('payment_sessions').set(set).where('id', '=', id).returningAll().executeTakeFirstOrThrow(),
  );

/** Null: the nonce was used before. */
export async function addVoucher(
  tx: SystemTx,
  voucher: NewVoucher,
  status: 'held' | 'pending',
  now: Date,
): Promise<bigint | null> {
  const row = await tx
    .insertInto('payment_vouchers')
    .values({
      session_id: voucher.sessionId,
      nonce: voucher.nonce.toLowerCase(),
      plugin: voucher.plugin,
      units: voucher.units,
      signature: voucher.signature,
      status,
      created_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return row?.id ?? null;
}

export const findVoucher = (tx: SystemTx, id: bigint) =>
  tx.selectFrom('payment_vouchers').select(['session_id', 'units']).where('id', '=', id).executeTakeFirstOrThrow();

/** False: it is not held any more. */
export async function resolveVoucher(tx: SystemTx, id: bigint, status: 'pending' | 'refunded'): Promise<boolean> {
  const moved = await tx
    .updateTable('payment_vouchers')
    .set({ status })
    .where('id', '=', id)
    .where('status', '=', 'held')
    .returning('id')
    .executeTakeFirst();
  return moved !== undefined;
}

/** Puts all pending vouchers of a session under a settlement; answers their sum. */
export async function settleVouchers(tx: SystemTx, sessionId: string, settlementId: string): Promise<bigint> {
  const rows = await tx
    .updateTable('payment_vouchers')
    .set({ status: 'settled', settlement_id: settlementId })
    .where('session_id', '=', sessionId)
    .where('status', '=', 'pending')
    .returning('units')
    .execute();
  return rows.reduce((sum, { units }) => sum + units, 0n);
}

export async function heldUnits(tx: SystemTx, sessionId: string): Promise<bigint> {
  const rows = await tx
    .selectFrom('payment_vouchers')
    .select('units')
    .where('session_id', '=', sessionId)
    .where('status', '=', 'held')
    .execute();
  return rows.reduce((sum, { units }) => sum + units, 0n);
}

export async function countPending(tx: SystemTx, sessionId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('payment_vouchers')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('session_id', '=', sessionId)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The newest that count, the oldest of them first. */
export async function vouchers(tx: SystemTx, sessionId: string): Promise<ListedVoucher[]> {
  const rows = await tx
    .selectFrom('payment_vouchers')
    .select(['plugin', 'units', 'created_at'])
    .where('session_id', '=', sessionId)
    .where('status', '<>', 'refunded')
    .orderBy('id', 'desc')
    .limit(MAX_VOUCHERS)
    .execute();
  return rows.reverse().map(({ plugin, units, created_at }) => ({ plugin, units, at: created_at }));
}
