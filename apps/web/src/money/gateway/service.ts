import { PAYMENT_METHODS } from '@troupe/contract';
import { formatAmount } from '@troupe/domain';
import { AppError, iso, type Clock, type User } from '@troupe/kernel';
import type { ChainPayments, Paid, Unpaid } from './pay-402.ts';
import type { Plugin, Plugins } from './plugins.ts';

type Method = (typeof PAYMENT_METHODS)[number];

export interface PluginCall {
  pluginId: string | undefined;
  method: string | undefined;
  sessionId: string | undefined;
  voucher: string | undefined;
  input: Record<string, unknown>;
  user: User | null;
  /** The caller's network address. */
  address: string;
  /** The request as the 402 protocols see it. */
  request: Request;
}

export interface PaidCall {
  body: { plugin: string; result: unknown; timestamp: string; payment: { method: Method; receipt: string } };
  headers: Record<string, string>;
}

/** One way of paying: serves when the payment is good, and keeps the money only when that succeeds. */
export type Pay = (call: PluginCall, plugin: Plugin, serve: () => Promise<void>) => Promise<Paid>;

export interface GatewayDeps {
  plugins: Plugins;
  chainPayments: ChainPayments | null;
  /** Balance and sessions, where they are kept. */
  byCard: Pay;
  bySession: Pay;
  clock: Clock;
}

export type GatewayService = ReturnType<typeof createGateway>;

const DECIMALS = 6;

export function createGateway({ plugins, chainPayments, byCard, bySession, clock }: GatewayDeps) {
  const by402: Pay = async ({ request }, plugin, serve) => {
    const answer: Paid | Unpaid = chainPayments
      ? await chainPayments.pay(request, plugin, serve)
      : { headers: {}, problem: null };
    if ('receipt' in answer) return answer;
    throw paymentRequired(plugin, answer);
  };
  const ways: Record<Method, Pay> = { card: byCard, session: bySession, '402': by402 };

  function paymentRequired({ id, price }: Plugin, { headers, problem }: Unpaid): AppError {
    const methods = chainPayments ? PAYMENT_METHODS : PAYMENT_METHODS.filter((method) => method !== '402');
    const amount = formatAmount(price, DECIMALS);
    const reason = problem === null ? {} : { reason: problem };
    return new AppError(
      402,
      'payment_required',
      { plugin: id, amount, currency: 'USD', methods, ...reason },
      { headers },
    );
  }

  return {
    async call(call: PluginCall): Promise<PaidCall> {
      const named = call.pluginId ?? call.input['plugin'] ?? 'agent';
      const plugin = typeof named === 'string' ? plugins.find(named) : null;
      if (plugin === null) throw new AppError(400, 'unknown_plugin', { plugins: plugins.ids });
      const method = methodOf(call);
      const { plugin: _, ...input } = call.input;
      plugins.check(plugin, input);
      let result: unknown;
      // Nobody is signed in: there is no balance to take it from, only the challenge to answer with.
      const pay = method === 'card' && call.user === null ? by402 : ways[method];
      const { receipt, headers } = await pay(call, plugin, async () => {
        result = await plugins.call(plugin, input, call);
      });
      return {
        body: { plugin: plugin.id, result, timestamp: iso(clock()), payment: { method, receipt } },
        headers: { 'payment-receipt': receipt, ...headers },
      };
    },
  };
}

/** What the caller says; else what the caller sent. */
function methodOf({ method, sessionId }: PluginCall): Method {
  if (method === undefined) return sessionId === undefined ? '402' : 'session';
  const known = PAYMENT_METHODS.find((one) => one === method);
  if (known === undefined) throw new AppError(400, 'unknown_payment_method', { methods: PAYMENT_METHODS });
  return known;
}
