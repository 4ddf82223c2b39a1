import type { Authorization, SignedPayment, SignedTransaction, Till } from '@troupe/chain';
import type { Database, SystemTx } from '@troupe/db';
import { newId, type Clock } from '@troupe/kernel';

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

export type GatewayStore = ReturnType<typeof createGatewayStore>;

const DAY_MS = 86_400_000;

/** Moves between the states of a payment are conditional, so that each happens once whoever tries. */
export function createGatewayStore({ db, clock }: { db: Database; clock: Clock }) {
  async function move(tx: SystemTx, id: string, from: string, set: Record<string, unknown>): Promise<boolean> {
    const moved = await tx
      .updateTable('gateway_payments')
      .set({ ...set, updated_at: clock() })
      .where('id', '=', id)
      .where('status', '=', from)
      .returning('id')
      .execute();
    return moved.length > 0;
  }

  async function unserved(tx: SystemTx, id: string, set: Record<string, unknown>): Promise<boolean> {
    const moved = await tx
      .updateTable('gateway_payments')
      .set({ ...set, updated_at: clock() })
      .where('id', '=', id)
      .where('status', '=', 'settled')
      .where('served_at', 'is', null)
      .returning('id')
      .execute();
    return moved.length > 0;
  }

  return {
    async addChallenges(ids: readonly string[], plugin: string, expiresAt: Date): Promise<void> {
      if (ids.length === 0) return;
      const old = new Date(clock().getTime() - DAY_MS);
      await db.asSystem(async (tx) => {
        await tx
          .insertInto('payment_challenges')
          .values(ids.map((id) => ({ id, plugin, expires_at: expiresAt })))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        await tx.deleteFrom('payment_challenges').where('expires_at', '<', old).execute();
      });
    },

    /** Uses up the challenge and what was signed in one step; null when either was used before. */
    claim(
      plugin: string,
      { chain, token }: Till,
      payment: Authorization | SignedPayment,
      then: (tx: SystemTx, id: string) => Promise<void>,
    ): Promise<string | null> {
      const { challengeId, from, protocol, value } = payment;
      const id = newId();
      const now = clock();
      return db.asSystem(async (tx) => {
        if (challengeId !== null) {
          const used = await tx
            .updateTable('payment_challenges')
            .set({ used_at: now })
            .where('id', '=', challengeId)
            .where('plugin', '=', plugin)
            .where('used_at', 'is', null)
            .where('expires_at', '>', now)
            .returning('id')
            .execute();
          if (used.length === 0) return null;
        }
        const claimed = await tx
          .insertInto('gateway_payments')
          .values({
            id,
            plugin,
            protocol,
            chain_id: chain.network.id,
            token: token.toLowerCase(),
            payer: from.toLowerCase(),
            units: value.toString(),
            ...stateOf(payment),
            created_at: now,
            updated_at: now,
          })
          .onConflict((conflict) => conflict.doNothing())
          .returning('id')
          .execute();
        if (claimed.length === 0) return null;
        await then(tx, id);
        return id;
      });
    },

    async find(id: string): Promise<GatewayPayment | null> {
      const row = await db.system.selectFrom('gateway_payments').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) return null;
      const { transaction_hash: hash, transaction_raw: raw, transaction_nonce: nonce, transaction_from: from } = row;
      const kind = row.kind as GatewayPayment['kind'];
      const validBefore = row.valid_before === null ? null : Math.floor(row.valid_before.getTime() / 1000);
      return {
        id: row.id,
        plugin: row.plugin,
        units: BigInt(row.units),
        payer: row.payer,
        nonce: row.nonce,
        kind,
        chainId: row.chain_id,
        token: row.token,
        status: row.status as GatewayPayment['status'],
        served: row.served_at !== null,
        transaction: kind === 'transaction' || hash === null ? null : ({ hash, raw, nonce, from } as SignedTransaction),
        signed: kind === 'transaction' ? ({ hash, raw, validBefore } as GatewayPayment['signed']) : null,
      };
    },

    /** Stores the transaction before it goes out. Throws when the payment was given up meanwhile. */
    async sending(id: string, { hash, raw, nonce, from }: SignedTransaction): Promise<void> {
      const moved = await move(db.system, id, 'verified', {
        status: 'sent',
        transaction_hash: hash,
        transaction_raw: raw,
        transaction_nonce: nonce,
        transaction_from: from,
      });
      if (!moved) throw new Error('the payment was given up before it was sent');
    },

    release: (id: string, from: 'verified' | 'sent'): Promise<boolean> =>
      move(db.system, id, from, { status: 'released' }),

    /** `then` is part of the same transaction, and runs once. */
    settle: (id: string, then: (tx: SystemTx) => Promise<void>): Promise<boolean> =>
      db.asSystem(async (tx) => {
        const moved = await move(tx, id, 'sent', { status: 'settled' });
        if (moved) await then(tx);
        return moved;
      }),

    /** The payer has what was paid for; false when it was given back meanwhile. */
    serve: (id: string): Promise<boolean> => unserved(db.system, id, { served_at: clock() }),

    /** Nothing came of it; `then` gives the money back, in the same transaction and once. */
    refund: (id: string, then: (tx: SystemTx) => Promise<void>): Promise<boolean> =>
      db.asSystem(async (tx) => {
        const moved = await unserved(tx, id, { status: 'refunded' });
        if (moved) await then(tx);
        return moved;
      }),
  };
}

/** An authorization moves nothing by itself; a transaction of the payer's may be under way from the first moment. */
function stateOf(payment: Authorization | SignedPayment) {
  if (payment.kind === 'authorization')
    return { kind: payment.kind, nonce: payment.nonce.toLowerCase(), status: 'verified' };
  const { hash, raw, validBefore } = payment;
  return {
    kind: payment.kind,
    nonce: hash.toLowerCase(),
    status: 'sent',
    transaction_hash: hash,
    transaction_raw: raw,
    valid_before: validBefore === null ? null : new Date(validBefore * 1000),
  };
}
