import { setTimeout as delay } from 'node:timers/promises';

/**
 * Asks a service of ours once more where that does nothing twice: what only reads, after a connection that was cut before
 * the answer began, and anything that nobody took. Once, within the caller's own time, and not while the service is known
 * to be away: a service that comes back must not meet everybody twice.
 */

/** Of a request that may have arrived, and been counted, before. */
export const ASKED_AGAIN = 'x-asked-again';

/** As long as it takes a proxy, or the network of a cluster, to lead to somebody else. */
const PAUSE_MS = 50;
const SPREAD_MS = 50;
/** For so long after a second failure nobody is asked twice, unless somebody was answered meanwhile. */
const AWAY_MS = 1_000;

const READS = new Set(['GET', 'HEAD']);
const CUT = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

export interface SteadyDeps {
  fetch?: typeof fetch;
  now?: () => number;
}

export function createSteadyFetch({
  fetch: send = fetch,
  now = () => performance.now(),
}: SteadyDeps = {}): typeof fetch {
  let awayUntil = 0;
  async function again(...[input, init, error]: [...Parameters<typeof fetch>, unknown]): Promise<Response> {
    const isRefused = codeOf(error) === 'ECONNREFUSED';
    await delay(PAUSE_MS + Math.random() * SPREAD_MS, undefined, { signal: init?.signal ?? undefined }).catch(() => {
      init?.signal?.throwIfAborted();
    });
    const headers = new Headers(init?.headers);
    // Nobody has counted what was never sent.
    if (!isRefused) headers.set(ASKED_AGAIN, '1');
    try {
      return await send(input, { ...init, headers });
    } catch (second) {
      if (codeOf(second) !== undefined) awayUntil = now() + AWAY_MS;
      throw second;
    }
  }
  return async (input, init) => {
    try {
      const answer = await send(input, init);
      awayUntil = 0;
      return answer;
    } catch (error) {
      if (now() < awayUntil || !isHarmless(error, init)) throw error;
      return again(input, init, error);
    }
  };
}

/** Why there was no answer, where the network says so; undefined: the caller's time is over, for one. */
function codeOf(error: unknown): string | undefined {
  const { code } = ((error as Error | undefined)?.cause ?? {}) as { code?: unknown };
  return code === 'ECONNREFUSED' || CUT.has(code as string) ? (code as string) : undefined;
}

function isHarmless(error: unknown, { method = 'GET', body }: RequestInit = {}): boolean {
  const code = codeOf(error);
  // What is read while it is sent is there only once.
  if (code === undefined || body instanceof ReadableStream) return false;
  return code === 'ECONNREFUSED' || READS.has(method);
}
