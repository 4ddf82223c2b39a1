import { createClient, type Client } from '@troupe/contract';
import { identityHeaders } from './http/guards.ts';
import type { User } from './http/principal.ts';
import { createSteadyFetch } from './steady-fetch.ts';
import { currentTrace, traceparentOf } from './telemetry/trace.ts';
import type { Clock } from './time.ts';

export interface BackendClientOptions {
  url: string;
  internalKey: string;
  sessionSecret: string;
  clock: Clock;
  timeout?: number;
  fetch?: typeof fetch;
}

/** How web reaches the backend: the contract's client with the internal key, for a user and a client address. */
export interface BackendClient extends Client {
  /** For a user: a limit counts the account, wherever it calls from. */
  as: (user: User, address: string) => Client;
  /** For whoever calls from this address, without an account: a limit counts them, not web. */
  from: (address: string) => Client;
}

export function createBackendClient({
  url,
  internalKey,
  sessionSecret,
  clock,
  timeout,
  fetch: send,
}: BackendClientOptions): BackendClient {
  const common = { baseUrl: url, timeout, fetch: createSteadyFetch({ fetch: send }) };
  const ours = (): Record<string, string> => {
    const trace = currentTrace();
    return { authorization: `Bearer ${internalKey}`, ...(trace && { traceparent: traceparentOf(trace) }) };
  };
  return {
    ...createClient({ ...common, headers: ours }),
    from: (address) => createClient({ ...common, headers: () => ({ ...ours(), 'x-client-ip': address }) }),
    as: (user, address) =>
      createClient({
        ...common,
        headers: () => ({
          ...ours(),
          ...identityHeaders(sessionSecret, user, clock()),
          ...(user.plan ? { 'x-user-plan': user.plan } : {}),
          'x-client-ip': address,
          'x-counted-as': user.toldAs ?? `user:${user.id}`,
        }),
      }),
  };
}
