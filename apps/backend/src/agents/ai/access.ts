import type { CallScope } from '@troupe/ai';
import { isPlan, type Plan } from '@troupe/domain';
import { AppError, headerText, type User } from '@troupe/kernel';

/** Who may use which models: the plan middleware, from headers that the internal key vouches for or from a user's key. */

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface Caller extends CallScope {
  /** Undefined: every model (administrators, the platform itself). */
  plan?: Plan;
}

export interface Access {
  /** For /api/ai: a plan and a subscription are required unless the e-mail is an administrator's. */
  byHeaders: (headers: Headers) => Caller;
  /** For /v1: `user` is null when the internal key was shown; then the plan counts only if a header names one. */
  byKey: (user: User | null, headers: Headers) => Caller;
}

const SUBSCRIPTION = /^sub_[A-Za-z0-9]+$/;

const planRequired = () =>
  new AppError(402, 'Valid subscription required. Choose a plan at /pricing', {
    success: false,
    code: 'PLAN_REQUIRED',
  });

const subscriptionRequired = () =>
  new AppError(402, 'Active subscription required. Subscribe at /pricing', {
    success: false,
    code: 'SUBSCRIPTION_REQUIRED',
  });

export function createAccess(adminEmails: readonly string[]): Access {
  const admins = new Set(adminEmails);
  const isAdmin = (headers: Headers): boolean => {
    const email = text(headers, 'x-user-email');
    return email !== undefined && admins.has(email.trim().toLowerCase());
  };

  return {
    byHeaders(headers) {
      const caller = contextOf(headers);
      if (isAdmin(headers)) return caller;
      const plan = text(headers, 'x-user-plan');
      if (!isPlan(plan)) throw planRequired();
      if (!SUBSCRIPTION.test(text(headers, 'x-billing-subscription-id') ?? '')) throw subscriptionRequired();
      return { ...caller, plan };
    },
    byKey(user, headers) {
      const caller = contextOf(headers);
      if (user === null) {
        const plan = text(headers, 'x-user-plan');
        if (plan === undefined || isAdmin(headers)) return caller;
        if (!isPlan(plan)) throw planRequired();
        return { ...caller, plan };
      }
      const shown = { ...caller, userId: user.id, ...(user.keyId !== undefined && { keyId: user.keyId }) };
      if (user.isAdmin) return shown;
      if (!isPlan(user.plan)) throw planRequired();
      if (user.subscriptionStatus !== 'active') throw subscriptionRequired();
      return { ...shown, plan: user.plan };
    },
  };
}

const contextOf = (headers: Headers): Caller => ({
  userId: text(headers, 'x-user-id') ?? 'anonymous',
  agentId: text(headers, 'x-agent-id'),
  runId: text(headers, 'x-run-id'),
});

const MAX_ID = 255;

function text(headers: Headers, name: string): string | undefined {
  return headerText(headers[name])?.slice(0, MAX_ID);
}
