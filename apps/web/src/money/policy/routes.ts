import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { PaymentDecision, Policies } from './service.ts';

interface PolicyRoutes {
  policies: Policies;
  /** Makes a payment that the owner approved, or says what has become of it. */
  decide: (
    user: { id: string; email: string },
    agentId: string,
    paymentId: string,
    decision: PaymentDecision,
  ) => Promise<{ success: boolean; paymentId: string; status: string }>;
}

export function policyRoutes(server: Server, { policies, decide }: PolicyRoutes): void {
  serve(server, web.policy.get, ({ user, params }) => policies.get(user.id, params.id));
  serve(server, web.policy.put, ({ user, params, body }) => policies.set(user.id, params.id, body));
  serve(server, web.policy.listPayments, async ({ user, params }) => ({
    payments: await policies.list(user.id, params.id),
  }));
  serve(server, web.policy.decidePayment, ({ user, params, body }) =>
    decide(user, params.id, params.paymentId, body.decision),
  );
}
