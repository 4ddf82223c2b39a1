import type { Authorization, SignedTransaction } from '@troupe/chain';
import type { SystemTx } from '@troupe/db';
import { newId } from '@troupe/kernel';

export interface GatewayPayment {
  id: string;
  plugin: string;
  units: bigint;
  payer: string;
  nonce: string;
  status: 'verified' | 'sent' | 'settled' | 'released';
  transaction: SignedTransaction | null;
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

export async function addChallenge(
  tx: SystemTx,
  challenge: { id: string; plugin: string; expiresAt: Date },
  now: Date,
): Promise<void> {
  const { id, plugin, expiresAt } = challenge;
  await tx
    .insertInto('payment_challenges')
    .values({ id, plugin, expires_at: expiresAt })
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
  chainId: number;
  token: string;
  authorization: Authorization;
}

/** Uses up the challenge and the signed transfer in one step; null when either was used before. */
export async function claim(
  tx: SystemTx,
  { plugin, chainId, token, authorization }: Claim,
  now: Date,
): Promise<string | null> {
  const { challengeId, from, nonce, protocol, value } = authorization;
  if (challengeId !== null && !(await useChallenge(tx, challengeId, plugin, now))) return null;
  const claimed = await tx
    .insertInto('gateway_payments')
    .values({
      id: newId(),
      plugin,
      protocol,
      chain_id: chainId,
      token: token.toLowerCase(),
      payer: from.toLowerCase(),
      nonce: nonce.toLowerCase(),
      units: value.toString(),
      status: 'verified',
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return claimed?.id ?? null;
}

export async function find(tx: SystemTx, id: string): Promise<GatewayPayment | null> {
  const row = await tx.selectFrom('gateway_payments').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return null;
  const { transaction_hash: hash, transaction_raw: raw, transaction_nonce: nonce, transaction_from: from } = row;
  return {
    id: row.id,
    plugin: row.plugin,
    units: BigInt(row.units),
    payer: row.payer,
    nonce: row.nonce,
    status: row.status,
    transaction: hash === null ? null : ({ hash, raw, nonce, from } as SignedTransaction),
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
