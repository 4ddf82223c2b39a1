import type { SystemTx, UserTx } from '@troupe/db';
import { newId } from '@troupe/kernel';
import { countedPayments, spentOn, sumOfPayments, takePaymentTurn } from '@troupe/ledger';

/** Millionths of a dollar; null: no limit. */
export interface PaymentPolicy {
  perPayment: bigint | null;
  perDay: bigint | null;
  perPayee: bigint | null;
  approvalAbove: bigint | null;
  payees: string[] | null;
}

export interface PaymentRequest {
  agentId: string;
  units: bigint;
  currency: string;
  recipient: string;
  endpoint: string | null;
  method: string;
}

export type AgentPaymentStatus = 'approval' | 'denied' | 'pending' | 'paid' | 'failed' | 'unknown';

export interface AgentPayment extends PaymentRequest {
  id: string;
  status: AgentPaymentStatus;
  createdAt: Date;
}

const NO_POLICY: PaymentPolicy = {
  perPayment: null,
  perDay: null,
  perPayee: null,
  approvalAbove: null,
  payees: null,
};

const LISTED = 100;
const COLUMNS = [
  'id',
  'agent_id',
  'units',
  'currency',
  'recipient',
  'endpoint',
  'method',
  'status',
  'created_at',
] as const;

interface Row {
  id: string;
  agent_id: string;
  units: bigint;
  currency: string;
  recipient: string;
  endpoint: string | null;
  method: string;
  status: AgentPaymentStatus;
  created_at: Date;
}

const paymentOf = (row: Row): AgentPayment => ({
  id: row.id,
  agentId: row.agent_id,
  units: row.units,
  currency: row.currency,
  recipient: row.recipient,
  endpoint: row.endpoint,
  method: row.method,
  status: row.status,
  createdAt: row.created_at,
});

/** own: the user's; foreign: another user's; unknown: nobody's on this platform. */
export async function whose(tx: SystemTx, userId: string, agentId: string): Promise<'own' | 'foreign' | 'unknown'> {
  const agent = await tx.selectFrom('agents').select('user_id').where('id', '=', agentId).executeTakeFirst();
  if (agent === undefined) return 'unknown';
  return agent.user_id === userId ? 'own' : 'foreign';
}

export async function agentName(tx: UserTx, agentId: string): Promise<string> {
  const agent = await tx.selectFrom('agents').select('name').where('id', '=', agentId).executeTakeFirst();
  return agent?.name ?? agentId;
}

export async function policy(tx: UserTx, agentId: string): Promise<PaymentPolicy> {
  const row = await tx.selectFrom('payment_policies').selectAll().where('agent_id', '=', agentId).executeTakeFirst();
  if (row === undefined) return NO_POLICY;
  return {
    perPayment: row.per_payment,
    perDay: row.per_day,
    perPayee: row.per_payee,
    approvalAbove: row.approval_above,
    payees: row.payees,
  };
}

export async function setPolicy(
  tx: UserTx,
  userId: string,
  agentId: string,
  policy: PaymentPolicy,
  now: Date,
): Promise<void> {
  const values = {
    per_payment: policy.perPayment,
    per_day: policy.perDay,
    per_payee: policy.perPayee,
    approval_above: policy.approvalAbove,
    payees: policy.payees,
    updated_at: now,
  };
  await tx
    .insertInto('payment_policies')
    .values({ agent_id: agentId, user_id: userId, ...values })
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(values))
    .execute();
}

export const takeTurn = (tx: UserTx, userId: string, agentId: string) => takePaymentTurn(tx, { userId, agentId });

/** What was paid in the last 24 hours or is under way, in all and to one payee. */
export const spent = async (tx: UserTx, payer: { userId: string; agentId: string }, recipient: string, now: Date) =>
  spentOn(await countedPayments(tx, payer, now), recipient);

/** What was paid in the last 24 hours or is under way, in all. */
export const spentInAll = sumOfPayments;

export async function add(
  tx: UserTx,
  userId: string,
  request: PaymentRequest,
  status: 'approval' | 'pending',
  now: Date,
): Promise<AgentPayment> {
  const row = await tx
    .insertInto('agent_payments')
    .values({
      id: newId(),
      user_id: userId,
      agent_id: request.agentId,
      units: request.units,
      currency: request.currency,
      recipient: request.recipient,
      endpoint: request.endpoint,
      method: request.method,
      status,
      created_at: now,
      updated_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  return paymentOf(row);
}

/** Null: it is not in that state (any more). */
export async function move(
  tx: UserTx,
  { id, agentId }: { id: string; agentId: string },
  from: AgentPaymentStatus,
  to: AgentPaymentStatus,
  { result = {}, now }: { result?: Record<string, unknown>; now: Date },
): Promise<AgentPayment | null> {
  const row = await tx
    .updateTable('agent_payments')
    .set({ status: to, result, updated_at: now })
    .where('id', '=', id)
    .where('agent_id', '=', agentId)
    .where('status', '=', from)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row === undefined ? null : paymentOf(row);
}

export async function find(tx: UserTx, agentId: string, id: string): Promise<AgentPayment | undefined> {
  const row = await tx
    .selectFrom('agent_payments')
    .select(COLUMNS)
    .where('agent_id', '=', agentId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && paymentOf(row);
}

export async function list(tx: UserTx, agentId: string): Promise<AgentPayment[]> {
  const rows = await tx
    .selectFrom('agent_payments')
    .select(COLUMNS)
    .where('agent_id', '=', agentId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(LISTED)
    .execute();
  return rows.map(paymentOf);
}

/** How many calls were paid, and to how many payees. */
export async function record(tx: UserTx, agentId: string): Promise<{ paid: number; payees: number }> {
  const row = await tx
    .selectFrom('agent_payments')
    .select((eb) => [eb.fn.countAll<bigint>().as('paid'), eb.fn.count<bigint>('recipient').distinct().as('payees')])
    .where('agent_id', '=', agentId)
    .where('status', '=', 'paid')
    .executeTakeFirstOrThrow();
  return { paid: Number(row.paid), payees: Number(row.payees) };
}
