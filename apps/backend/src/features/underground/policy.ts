import type { SystemTx } from '@troupe/db';
import { paymentRefusal } from '@troupe/domain';
import { AppError, newId, type Clock } from '@troupe/kernel';
import { countedPayments, spentOn, takePaymentTurn } from '@troupe/ledger';

interface Spending {
  userId: string;
  agentId: string;
  method: 'ticket' | 'split';
  payments: readonly { recipient: string; units: bigint }[];
}

export type Admit = (tx: SystemTx, spending: Spending) => Promise<void>;

/**
 * The owner's limits on what the agent spends, counted in the transaction that moves the money. Approval is not asked
 * for: it is the owner who calls these routes. 403 when a payment may not be made.
 */
export function createAdmit({ clock }: { clock: Clock }): Admit {
  return async (tx, { userId, agentId, method, payments }) => {
    await takePaymentTurn(tx, { userId, agentId });
    const now = clock();
    const policy = await tx
      .selectFrom('payment_policies')
      .select(['per_payment', 'per_day', 'per_payee', 'payees'])
      .where('agent_id', '=', agentId)
      .where('user_id', '=', userId)
      .executeTakeFirst();
    const made = await countedPayments(tx, { userId, agentId }, now);
    for (const payment of policy ? payments : []) {
      const limits = {
        perPayment: policy!.per_payment,
        perDay: policy!.per_day,
        perPayee: policy!.per_payee,
        payees: policy!.payees,
      };
      const refused = paymentRefusal(limits, payment, spentOn(made, payment.recipient));
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
      status: 'paid' as const,
      created_at: now,
      updated_at: now,
    }));
    if (rows.length > 0) await tx.insertInto('agent_payments').values(rows).execute();
  };
}
