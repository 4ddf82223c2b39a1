import type { Outbound, OutboundRequest } from '@troupe/kernel';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_048_576;

/** The provider answered, and said no. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  readonly status: number;
  constructor(url: string, status: number) {
    super(`${new URL(url).origin} answered ${status}`);
    this.status = status;
  }
}

/** One answer of a provider, in JSON; one that says no is an error, too. */
export async function askJson(outbound: Outbound, url: string, request: OutboundRequest = {}): Promise<unknown> {
  const response = await outbound.fetch(url, {
    timeout: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    redirects: 0,
    ...request,
    headers: { accept: 'application/json', ...request.headers },
  });
  if (response.status !== 200) {
    response.cancel();
    throw new ProviderRefusal(url, response.status);
  }
  return response.json();
}

export async function askObject(
  outbound: Outbound,
  url: string,
  request: OutboundRequest = {},
): Promise<Record<string, unknown>> {
  const answer = await askJson(outbound, url, request);
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new Error(`${new URL(url).origin} did not answer with an object`);
  return answer as Record<string, unknown>;
}
