import type { SystemTx, UserTx } from '@troupe/db';
import { COUNTED_PAYMENTS, isSamePayee } from '@troupe/domain';
import { sql } from 'kysely';

/** What is counted against the limits that an owner sets for an agent, whichever service the agent pays by. */

interface Payer {
  userId: string;
  agentId: string;
}

interface CountedPayment {
  recipient: string;
  units: bigint;
}

const DAY_MS = 86_400_000;

/** Payments of one agent take turns: two at once must not both fit under one limit. */
export async function takePaymentTurn(tx: UserTx | SystemTx, { userId, agentId }: Payer): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`payments ${userId} ${agentId}`}, 0))`.execute(tx);
}

/** What the agent paid in the 24 hours before, or is about to. */
export const countedPayments = (
  tx: UserTx | SystemTx,
  { userId, agentId }: Payer,
  now: Date,
): Promise<CountedPayment[]> =>
  (tx as SystemTx)
    .selectFrom('agent_payments')
    .select(['units', 'recipient'])
    .where('user_id', '=', userId)
    .where('agent_id', '=', agentId)
    .where('status', 'in', COUNTED_PAYMENTS)
    .where('created_at', '>', new Date(now.getTime() - DAY_MS))
    .execute();

/** What they come to, added up where they are. */
export async function sumOfPayments(tx: UserTx | SystemTx, { userId, agentId }: Payer, now: Date): Promise<bigint> {
  const row = await (tx as SystemTx)
    .selectFrom('agent_payments')
    .select(sql<bigint>`coalesce(sum(units), 0)::bigint`.as('units'))
    .where('user_id', '=', userId)
    .where('agent_id', '=', agentId)
    .where('status', 'in', COUNTED_PAYMENTS)
    .where('created_at', '>', new Date(now.getTime() - DAY_MS))
    .executeTakeFirstOrThrow();
  return row.units;
}

/** The sum of them, and of those to one payee. */
export function spentOn(payments: readonly CountedPayment[], payee: string): { all: bigint; toPayee: bigint } {
  const sum = (list: readonly CountedPayment[]) => list.reduce((total, { units }) => total + units, 0n);
  return { all: sum(payments), toPayee: sum(payments.filter(({ recipient }) => isSamePayee(recipient, payee))) };
}
