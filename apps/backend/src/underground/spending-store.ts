import type { SystemTx, Tables } from '@troupe/db';
import type { Insertable } from 'kysely';

export const policyOf = (tx: SystemTx, userId: string, agentId: string) =>
  tx
    .selectFrom('payment_policies')
    .select(['per_payment as perPayment', 'per_day as perDay', 'per_payee as perPayee', 'payees'])
    .where('agent_id', '=', agentId)
    .where('user_id', '=', userId)
    .executeTakeFirst();

export const addPayments = (tx: SystemTx, payments: Insertable<Tables['agent_payments']>[]) =>
  tx.insertInto('agent_payments').values(payments).execute();
