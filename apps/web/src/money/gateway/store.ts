import type { Authorization, SignedPayment, SignedTransaction, Till } from '@troupe/chain';
import type { SystemTx } from '@troupe/db';
import { newId } from '@troupe/kernel';

export interface GatewayPayment {
  id: string;
  plugin: string;
  units: bigint;
  payer: string;
  nonce: string;
  kind: 'authorization' | 'transaction';
  chainId: number;
  token: string;
  status: 'verified' | 'sent' | 'settled' | 'released' | 'refunded';
  served: boolean;
  /** Of ours, for an authorization. */
  transaction: SignedTransaction | null;
  /** Of the payer's own; `raw` is null when the payer sent it. */
  signed: Pick<SignedPayment, 'hash' | 'raw' | 'validBefore'> | null;
}

const DAY_MS = 86_400_000;

/** Moves between the states of a payment are conditional, so that each happens once whoever tries. */
async function move(
  tx: SystemTx,
  id: string,
  from: GatewayPayment['status'],
  { now, ...set }: Record<string, unknown> & { now: Date },
): Promise<boolean> {
  const moved = await tx
    .updateTable('gateway_payments')
    .set({ ...set, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', from)
    .returning('id')
    .execute();
  return moved.length > 0;
}

export interface NewChallenges {
  ids: readonly string[];
  plugin: string;
  expiresAt: Date;
}

export async function addChallenges(tx: SystemTx, { ids, plugin, expiresAt }: NewChallenges, now: Date): Promise<void> {
  await tx
    .insertInto('payment_challenges')
    .values(ids.map((id) => ({ id, plugin, expires_at: expiresAt })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await tx
    .deleteFrom('payment_challenges')
    .where('expires_at', '<', new Date(now.getTime() - DAY_MS))
    .execute();
}

async function useChallenge(tx: SystemTx, id: string, plugin: string, now: Date): Promise<boolean> {
  const used = await tx
    .updateTable('payment_challenges')
    .set({ used_at: now })
    .where('id', '=', id)
    .where('plugin', '=', plugin)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning('id')
    .execute();
  return used.length > 0;
}

export interface Claim {
  plugin: string;
  till: Till;
  payment: Authorization | SignedPayment;
}

/** Uses up the challenge and what was signed in one step; null when either was used before. */
export async function claim(tx: SystemTx, { plugin, till, payment }: Claim, now: Date): Promise<string | null> {
  const { challengeId, from, protocol, value } = payment;
  if (challengeId !== null && !(await useChallenge(tx, challengeId, plugin, now))) return null;
  const claimed = await tx
    .insertInto('gateway_payments')
    .values({
      id: newId(),
      plugin,
      protocol,
      chain_id: till.chain.network.id,
      token: till.token.toLowerCase(),
      payer: from.toLowerCase(),
      units: value.toString(),
      ...stateOf(payment),
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return claimed?.id ?? null;
}

/** An authorization moves nothing by itself; a transaction of the payer's may be under way from the first moment. */
function stateOf(payment: Authorization | SignedPayment) {
  if (payment.kind === 'authorization')
    return { kind: payment.kind, nonce: payment.nonce.toLowerCase(), status: 'verified' } as const;
  const { hash, raw, validBefore } = payment;
  return {
    kind: payment.kind,
    nonce: hash.toLowerCase(),
    status: 'sent',
    transaction_hash: hash,
    transaction_raw: raw,
    valid_before: validBefore === null ? null : new Date(validBefore * 1000),
  } as const;
}

export async function find(tx: SystemTx, id: string): Promise<GatewayPayment | null> {
  const row = await tx.selectFrom('gateway_payments').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return null;
  const { transaction_hash: hash, transaction_raw: raw, transaction_nonce: nonce, transaction_from: from } = row;
  const validBefore = row.valid_before === null ? null : Math.floor(row.valid_before.getTime() / 1000);
  return {
    id: row.id,
    plugin: row.plugin,
    units: BigInt(row.units),
    payer: row.payer,
    nonce: row.nonce,
    kind: row.kind,
    chainId: row.chain_id,
    token: row.token,
    status: row.status,
    served: row.served_at !== null,
    transaction: row.kind === 'transaction' || hash === null ? null : ({ hash, raw, nonce, from } as SignedTransaction),
    signed: row.kind === 'transaction' ? ({ hash, raw, validBefore } as GatewayPayment['signed']) : null,
  };
}

/** Stores the transaction before it goes out. Throws when the payment was given up meanwhile. */
export async function sending(tx: SystemTx, id: string, transaction: SignedTransaction, now: Date): Promise<void> {
  const moved = await move(tx, id, 'verified', {
    now,
    status: 'sent',
    transaction_hash: transaction.hash,
    transaction_raw: transaction.raw,
    transaction_nonce: transaction.nonce,
    transaction_from: transaction.from,
  });
  if (!moved) throw new Error('the payment was given up before it was sent');
}

export const release = (tx: SystemTx, id: string, from: 'verified' | 'sent', now: Date): Promise<boolean> =>
  move(tx, id, from, { now, status: 'released' });

/** False: it was settled, or given up, before. */
export const settle = (tx: SystemTx, id: string, now: Date): Promise<boolean> =>
  move(tx, id, 'sent', { now, status: 'settled' });

async function unserved(tx: SystemTx, id: string, set: { served_at: Date } | { status: 'refunded' }, now: Date) {
  const moved = await tx
    .updateTable('gateway_payments')
    .set({ ...set, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'settled')
    .where('served_at', 'is', null)
    .returning('id')
    .execute();
  return moved.length > 0;
}

/** The payer has what was paid for; false when it was given back meanwhile. */
export const serve = (tx: SystemTx, id: string, now: Date): Promise<boolean> =>
  unserved(tx, id, { served_at: now }, now);

/** Nothing came of it; false when something did, or it was given back before. */
export const refund = (tx: SystemTx, id: string, now: Date): Promise<boolean> =>
  unserved(tx, id, { status: 'refunded' }, now);
