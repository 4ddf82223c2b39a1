import type { Authorization, SignedTransaction } from '@troupe/chain';
import type { Database, SystemTx } from '@troupe/db';
import { newId, type Clock } from '@troupe/kernel';

export interface GatewayPayment {
  id: string;
  plugin: string;
  units: bigint;
  payer: string;
  nonce: string;
  status: 'verified' | 'sent' | 'settled' | 'released';
  transaction: SignedTransaction | null;
}

export type GatewayStore = ReturnType<typeof createGatewayStore>;

type State = GatewayPayment['status'];

const DAY_MS = 86_400_000;

/** Moves between the states of a payment are conditional, so that each happens once whoever tries. */
export function createGatewayStore({ db, clock }: { db: Database; clock: Clock }) {
  async function move(tx: SystemTx, id: string, from: State, set: Record<string, unknown>): Promise<boolean> {
    const moved = await tx
      .updateTable('gateway_payments')
      .set({ ...set, updated_at: clock() })
      .where('id', '=', id)
      .where('status', '=', from)
      .returning('id')
      .execute();
    return moved.length > 0;
  }

  return {
    async addChallenge(id: string, plugin: string, expiresAt: Date): Promise<void> {
      const old = new Date(clock().getTime() - DAY_MS);
      await db.asSystem(async (tx) => {
        await tx
          .insertInto('payment_challenges')
          .values({ id, plugin, expires_at: expiresAt })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        await tx.deleteFrom('payment_challenges').where('expires_at', '<', old).execute();
      });
    },

    /** Uses up the challenge and the signed transfer in one step; null when either was used before. */
    claim(
      plugin: string,
      { chainId, token, authorization }: { chainId: number; token: string; authorization: Authorization },
      then: (tx: SystemTx, id: string) => Promise<void>,
    ): Promise<string | null> {
      const { challengeId, from, nonce, protocol, value } = authorization;
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
      return {
        id: row.id,
        plugin: row.plugin,
        units: BigInt(row.units),
        payer: row.payer,
        nonce: row.nonce,
        status: row.status,
        transaction: hash === null ? null : ({ hash, raw, nonce, from } as SignedTransaction),
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
  };
}
