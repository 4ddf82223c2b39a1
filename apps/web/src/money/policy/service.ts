import { raiseNotice, settleNotice, type Audit } from '@troupe/accounts';
import { isPayee } from '@troupe/chain';
import { agentPaymentJob, BAD_PAYEES } from '@troupe/contract';
import type { Database, Jobs, UserTx } from '@troupe/db';
import { formatAmount, parseAmount, paymentRefusal } from '@troupe/domain';
import { AppError, iso, type Clock } from '@troupe/kernel';
import { USD_DECIMALS } from '@troupe/ledger';
import * as store from './store.ts';
import type { AgentPayment, PaymentPolicy, PaymentRequest } from './store.ts';

export type { AgentPayment, PaymentRequest };

/** What agents may spend, and the record of what they did. Every payment is admitted here before any money moves. */

interface PolicyTexts {
  perPayment: string | null;
  perDay: string | null;
  perPayee: string | null;
  approvalAbove: string | null;
  payees: string[] | null;
}

interface PolicyDeps {
  db: Database;
  audit: Audit;
  clock: Clock;
  jobs: Jobs;
  /** What is known of a payment that nobody works on any more: in the own ledger it would be marked as paid. */
  abandoned: 'failed' | 'unknown';
}

const WAITING = 'payment_waiting';
/** After this, nobody is still working on a payment. */
const UNFINISHED_SECONDS = 120;

const DECIDED = 'Payment was decided before';
const KNOWN = 'The outcome of the payment is not unknown';
const DECISIONS = {
  approve: { from: 'approval', to: 'pending', refusal: DECIDED },
  deny: { from: 'approval', to: 'denied', refusal: DECIDED },
  paid: { from: 'unknown', to: 'paid', refusal: KNOWN },
  failed: { from: 'unknown', to: 'failed', refusal: KNOWN },
} as const;

export type PaymentDecision = keyof typeof DECISIONS;
export type Policies = ReturnType<typeof createPolicies>;

const usd = (units: bigint): string => formatAmount(units, USD_DECIMALS);
const texts = (policy: PaymentPolicy): PolicyTexts => ({
  perPayment: policy.perPayment === null ? null : usd(policy.perPayment),
  perDay: policy.perDay === null ? null : usd(policy.perDay),
  perPayee: policy.perPayee === null ? null : usd(policy.perPayee),
  approvalAbove: policy.approvalAbove === null ? null : usd(policy.approvalAbove),
  payees: policy.payees,
});

/** Whose agent it is, and who has to know of a payment. */
function createHelp({ db, clock, jobs, abandoned }: PolicyDeps) {
  async function mustOwn(userId: string, agentId: string): Promise<void> {
    if ((await store.whose(db.system, userId, agentId)) !== 'own') throw new AppError(404, 'Agent not found');
  }

  /** An id from elsewhere is the user's own business; another user's agent is not. */
  async function mayAct(userId: string, agentId: string): Promise<void> {
    if ((await store.whose(db.system, userId, agentId)) === 'foreign') throw new AppError(404, 'Agent not found');
  }

  /** Whoever made a payment pending may die before it is paid; then it must not wait for ever. */
  async function watch(tx: UserTx, userId: string, { id, agentId, status }: AgentPayment): Promise<void> {
    const look = { userId, agentId, id, outcome: abandoned };
    if (status === 'pending')
      await jobs.send(tx, agentPaymentJob, look, { startAfter: UNFINISHED_SECONDS, owner: userId });
  }

  async function tellOwner(tx: UserTx, userId: string, { id, agentId, units }: AgentPayment): Promise<void> {
    const message = `${await store.agentName(tx, agentId)} asks to pay ${usd(units)} USD`;
    const link = `/dashboard/policy?agent=${encodeURIComponent(agentId)}`;
    await raiseNotice(tx, { userId, kind: WAITING, subject: id, message, link }, clock());
  }

  return { mustOwn, mayAct, watch, tellOwner };
}

/** What agents may spend, and what they did. */
function limits({ db, audit, clock }: PolicyDeps, { mustOwn }: ReturnType<typeof createHelp>) {
  return {
    async get(userId: string, agentId: string): Promise<PolicyTexts & { spent: string }> {
      await mustOwn(userId, agentId);
      const spent = await store.spentInAll(db.user(userId), { userId, agentId }, clock());
      return { ...texts(await store.policy(db.user(userId), agentId)), spent: usd(spent) };
    },

    async set(userId: string, agentId: string, given: PolicyTexts): Promise<PolicyTexts> {
      await mustOwn(userId, agentId);
      if (given.payees?.some((payee) => !isPayee(payee))) throw new AppError(400, BAD_PAYEES, { code: 'BAD_PAYEES' });
      const units = (text: string | null) => (text === null ? null : parseAmount(text, USD_DECIMALS));
      const policy: PaymentPolicy = {
        perPayment: units(given.perPayment),
        perDay: units(given.perDay),
        perPayee: units(given.perPayee),
        approvalAbove: units(given.approvalAbove),
        payees: given.payees,
      };
      await db.asUser(userId, async (tx) => {
        await store.setPolicy(tx, userId, agentId, policy, clock());
        await audit(tx, { userId, action: 'payment_policy.set', detail: { agentId, ...texts(policy) } });
      });
      return texts(policy);
    },

    async list(userId: string, agentId: string) {
      await mustOwn(userId, agentId);
      const payments = await store.list(db.user(userId), agentId);
      return payments.map(({ id, units, currency, recipient, endpoint, method, status, createdAt }) => {
        return { id, amount: usd(units), currency, recipient, endpoint, method, status, createdAt: iso(createdAt) };
      });
    },
  };
}

/** Whether a payment may be made: by the limits, or by the owner. */
function admission(
  { db, audit, clock }: PolicyDeps,
  { mustOwn, mayAct, watch, tellOwner }: ReturnType<typeof createHelp>,
) {
  return {
    /** Counts the payment against the limits of the agent, or has it wait for the owner; 403 when it may not be made. */
    async admit(userId: string, request: PaymentRequest, detail: Record<string, unknown>): Promise<AgentPayment> {
      await mayAct(userId, request.agentId);
      return db.asUser(userId, async (tx) => {
        await store.takeTurn(tx, userId, request.agentId);
        const policy = await store.policy(tx, request.agentId);
        const spent = await store.spent(tx, { userId, agentId: request.agentId }, request.recipient, clock());
        const refused = paymentRefusal(policy, request, spent);
        if (refused !== null) throw new AppError(403, refused);
        const waits = policy.approvalAbove !== null && request.units > policy.approvalAbove;
        const payment = await store.add(tx, userId, request, waits ? 'approval' : 'pending', clock());
        await audit(tx, {
          userId,
          action: waits ? 'paygate.pay.approval_needed' : 'paygate.pay',
          detail: { ...detail, paymentId: payment.id },
        });
        if (waits) await tellOwner(tx, userId, payment);
        await watch(tx, userId, payment);
        return payment;
      });
    },

    /** The owner's word; an approved payment must still fit under the limits, and what became of an unknown one is the owner's to say. */
    async decide(userId: string, agentId: string, id: string, decision: PaymentDecision): Promise<AgentPayment> {
      await mustOwn(userId, agentId);
      return db.asUser(userId, async (tx) => {
        await store.takeTurn(tx, userId, agentId);
        const payment = await store.find(tx, agentId, id);
        if (!payment) throw new AppError(404, 'Payment not found');
        const { from, to, refusal } = DECISIONS[decision];
        if (payment.status !== from) throw new AppError(400, refusal);
        if (decision === 'approve') {
          const policy = await store.policy(tx, agentId);
          const spent = await store.spent(tx, { userId, agentId }, payment.recipient, clock());
          const refused = paymentRefusal(policy, payment, spent);
          if (refused !== null) throw new AppError(403, refused);
        }
        const moved = await store.move(tx, payment, from, to, { now: clock() });
        if (moved === null) throw new AppError(400, refusal);
        await settleNotice(tx, { kind: WAITING, subject: id }, clock());
        await audit(tx, { userId, action: `paygate.pay.${decision}`, detail: { agentId, paymentId: id } });
        await watch(tx, userId, moved);
        return moved;
      });
    },
  };
}

export function createPolicies(deps: PolicyDeps) {
  const { db, audit, clock, jobs } = deps;
  const help = createHelp(deps);
  const { mayAct } = help;

  jobs.work(
    agentPaymentJob,
    // The gateway may be another one by now: what counts is who was asked.
    ({ userId, agentId, id, outcome = 'failed' }) =>
      db.asUser(userId, async (tx) => {
        const moved = await store.move(tx, { id, agentId }, 'pending', outcome, {
          result: { reason: 'Interrupted' },
          now: clock(),
        });
        if (moved !== null)
          await audit(tx, { userId, action: `paygate.${outcome}`, detail: { agentId, paymentId: id } });
      }),
  );

  return {
    mayAct,

    ...limits(deps, help),
    ...admission(deps, help),
    /** A failed payment does not count against the limits. */
    finish: (
      userId: string,
      payment: AgentPayment,
      status: 'paid' | 'failed' | 'unknown',
      result: Record<string, unknown>,
    ) =>
      db.asUser(userId, async (tx) => {
        await store.move(tx, payment, 'pending', status, { result, now: clock() });
        await audit(tx, {
          userId,
          action: `paygate.${status}`,
          detail: { agentId: payment.agentId, paymentId: payment.id },
        });
      }),

    record: (userId: string, agentId: string) => store.record(db.user(userId), agentId),
  };
}
