import type { Audit } from '@troupe/accounts';
import { isPayee, parseUsdc } from '@troupe/chain';
import { INVALID_PAYGATE_ACTION, MOST_PAYMENT_USD } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { formatAmount } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import { USD_DECIMALS } from '@troupe/ledger';
import type { AgentPayment, PaymentDecision, PaymentRequest, Policies } from '../policy/service.ts';
import { PaymentProblem, type Colony, type Json } from './colony.ts';

export interface PaygateBody {
  action?: unknown;
  agentId?: unknown;
  walletAddress?: unknown;
  amount?: unknown;
  currency?: unknown;
  recipient?: unknown;
  endpoint?: unknown;
  method?: unknown;
}

export interface Payer {
  id: string;
  email: string;
}

interface PaygateDeps {
  db: Database;
  colony: Colony;
  policies: Policies;
  audit: Audit;
}

export type Paygate = ReturnType<typeof createPaygate>;

const MAX_TEXT = 100;

/** Has the colony pay, and keeps what became of it. */
function createExecute({ colony, policies }: PaygateDeps) {
  /** Makes a payment that was admitted. */
  async function execute(user: Payer, payment: AgentPayment): Promise<Json & { success: boolean; paymentId: string }> {
    const { agentId, units, currency, recipient, method, endpoint } = payment;
    try {
      const answer = await colony.pay({ userId: user.id, agentId }, payment);
      await policies.finish(user.id, payment, 'paid', answer);
      return {
        success: true,
        paymentId: payment.id,
        status: 'paid',
        amount: usd(units),
        currency,
        recipient,
        method,
        ...(endpoint === null ? {} : { endpoint }),
        ...answer,
      };
    } catch (error) {
      if (!(error instanceof PaymentProblem)) throw error;
      const { outcome, answer, message } = error;
      await policies.finish(user.id, payment, outcome, { reason: message });
      throw outcome === 'failed'
        ? answer
        : new AppError(
            answer.status,
            message,
            { ...answer.extra, paymentId: payment.id, status: outcome },
            { cause: answer },
          );
    }
  }

  return execute;
}

/** What an agent can ask of the gateway. */
function createPaying(deps: PaygateDeps) {
  const { db, colony, policies, audit } = deps;
  async function join(user: Payer, agentId: string, walletAddress: unknown): Promise<Json> {
    if (typeof walletAddress !== 'string' || walletAddress === '') throw new AppError(400, 'walletAddress required');
    if (!isPayee(walletAddress)) throw new AppError(400, 'Invalid address');
    return colony.join({ userId: user.id, agentId }, walletAddress);
  }

  /** What is logged of every attempt, as it was asked for. */
  const attempt = (user: Payer, body: PaygateBody, ip: string) => ({
    email: user.email,
    agentId: short(body.agentId),
    amount: typeof body.amount === 'number' ? body.amount : short(body.amount),
    currency: short(body.currency ?? 'USDC'),
    recipient: short(body.recipient),
    method: short(body.method ?? 'default'),
    ip,
  });

  async function pay(user: Payer, body: PaygateBody, ip: string): Promise<Json> {
    const detail = attempt(user, body, ip);
    let payment: AgentPayment;
    try {
      payment = await policies.admit(user.id, paymentOf(body), detail);
    } catch (error) {
      const reason = error instanceof AppError ? error.message : 'failed';
      await audit(db.user(user.id), { userId: user.id, action: 'paygate.refused', detail: { ...detail, reason }, ip });
      throw error;
    }
    if (payment.status === 'approval')
      return { success: false, paymentId: payment.id, status: 'approval_required', amount: usd(payment.units) };
    return execute(user, payment);
  }

  const execute = createExecute(deps);

  return { join, pay, execute };
}

export function createPaygate(deps: PaygateDeps) {
  const { colony, policies } = deps;
  const { join, pay, execute } = createPaying(deps);

  return {
    async health(): Promise<{ status: number; body: Json }> {
      const { gateway } = colony;
      try {
        return { status: 200, body: { gateway, status: 'ok', ...(await colony.health()) } };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return { status: 503, body: { gateway, status: 'unreachable', error: error.message } };
      }
    },

    async act(user: Payer | null, body: PaygateBody, ip: string): Promise<Json> {
      if (body.action === 'endpoints') return colony.endpoints();
      if (user === null) throw new AppError(401, 'Authentication required');
      const known = ['join-colony', 'fitness', 'pricing', 'pay'].find((action) => action === body.action);
      if (known === undefined) throw new AppError(400, INVALID_PAYGATE_ACTION);
      if (known === 'pay') return pay(user, body, ip);
      const agentId = agentOf(body);
      await policies.mayAct(user.id, agentId);
      if (known === 'join-colony') return join(user, agentId, body.walletAddress);
      return colony[known as 'fitness' | 'pricing']({ userId: user.id, agentId });
    },

    async decide(user: Payer, agentId: string, paymentId: string, decision: PaymentDecision) {
      const payment = await policies.decide(user.id, agentId, paymentId, decision);
      if (payment.status !== 'pending') return { success: true, paymentId, status: payment.status };
      return { status: 'paid', ...(await execute(user, payment)) };
    },
  };
}

const usd = (units: bigint): string => formatAmount(units, USD_DECIMALS);
const short = (value: unknown): string | null =>
  value === undefined || value === null
    ? null
    : (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, MAX_TEXT);

function agentOf({ agentId }: PaygateBody): string {
  if (typeof agentId !== 'string' || agentId.trim() === '' || agentId.length > MAX_TEXT)
    throw new AppError(400, 'agentId required');
  return agentId.trim();
}

/** The checks in the order of the contract. */
function paymentOf(body: PaygateBody): PaymentRequest {
  const agentId = agentOf(body);
  const { amount, recipient } = body;
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount <= 0) throw new AppError(400, 'Invalid amount');
  if (amount > MOST_PAYMENT_USD)
    throw new AppError(400, `Amount exceeds $${MOST_PAYMENT_USD} limit. Contact support for higher limits.`);
  const units = parseUsdc(amount);
  if (units === null) throw new AppError(400, 'Invalid amount');
  if (typeof recipient !== 'string' || recipient === '') throw new AppError(400, 'Recipient required');
  if (!isPayee(recipient)) throw new AppError(400, 'Invalid recipient address');
  return {
    agentId,
    units,
    recipient,
    currency: textOr(body.currency, 'USDC', 'Unsupported currency'),
    method: textOr(body.method, 'default', 'Invalid method'),
    endpoint: body.endpoint == null ? null : textOr(body.endpoint, '', 'Invalid endpoint'),
  };
}

function textOr(value: unknown, fallback: string, error: string): string {
  if (value === undefined || value === null || value === '') return fallback;
  if (typeof value !== 'string' || value.length > MAX_TEXT) throw new AppError(400, error);
  return value;
}
