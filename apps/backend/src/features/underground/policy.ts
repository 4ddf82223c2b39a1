import type { SystemTx } from '@troupe/db';
import { COUNTED_PAYMENTS, isSamePayee, paymentRefusal } from '@troupe/domain';
import { AppError, newId, type Clock } from '@troupe/kernel';
import { sql } from 'kysely';

interface Spending {
  userId: string;
  agentId: string;
  method: 'ticket' | 'split';
  payments: readonly { recipient: string; units: bigint }[];
}

export type Admit = (tx: SystemTx, spending: Spending) => Promise<void>;

const DAY_MS = 86_400_000;

/**
 * The owner's limits on what the agent spends, counted in the transaction that moves the money. Approval is not asked
 * for: it is the owner who calls these routes. 403 when a payment may not be made.
 */
export function createAdmit({ clock }: { clock: Clock }): Admit {
  return async (tx, { userId, agentId, method, payments }) => {
    // Payments of one agent take turns: two at once must not both fit under one limit.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`payments ${userId} ${agentId}`}, 0))`.execute(tx);
    const now = clock();
    const policy = await tx
      .selectFrom('payment_policies')
      .select(['per_payment', 'per_day', 'per_payee', 'payees'])
      .where('agent_id', '=', agentId)
      .where('user_id', '=', userId)
      .executeTakeFirst();
    const before = await tx
      .selectFrom('agent_payments')
      .select(['units', 'recipient'])
      .where('user_id', '=', userId)
      .where('agent_id', '=', agentId)
      .where('status', 'in', COUNTED_PAYMENTS)
      .where('created_at', '>', new Date(now.getTime() - DAY_MS))
      .execute();
    const sum = (list: readonly { units: bigint }[]) => list.reduce((total, { units }) => total + units, 0n);
    const made = [...before];
    for (const payment of policy ? payments : []) {
      const toPayee = sum(made.filter(({ recipient }) => isSamePayee(recipient, payment.recipient)));
      const limits = {
        perPayment: policy!.per_payment,
        perDay: policy!.per_day,
        perPayee: policy!.per_payee,
        payees: policy!.payees,
      };
      const refused = paymentRefusal(limits, payment, { all: sum(made), toPayee });
      if (refused !== null) throw new AppError(403, refused);
      made.push(payment);
    }
    const rows = payments.map(({ recipient, units }) => ({
      id: newId(),
      user_id: userId,
      agent_id: agentId,
      units,
      currency: 'USDC',
      recipient,
      method,
      status: 'paid',
      created_at: now,
      updated_at: now,
    }));
    if (rows.length > 0) await tx.insertInto('agent_payments').values(rows).execute();
  };
}
