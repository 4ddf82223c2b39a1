import type { SystemTx } from '@troupe/db';
import { paymentRefusal } from '@troupe/domain';
import { AppError, newId, type Clock } from '@troupe/kernel';
import { countedPayments, spentOn, takePaymentTurn } from '@troupe/ledger';
import * as store from './spending-store.ts';

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
    const limits = await store.policyOf(tx, userId, agentId);
    const made = await countedPayments(tx, { userId, agentId }, now);
    for (const payment of limits ? payments : []) {
      const refused = paymentRefusal(limits!, payment, spentOn(made, payment.recipient));
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
    if (rows.length > 0) await store.addPayments(tx, rows);
  };
}
