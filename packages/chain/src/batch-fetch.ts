import type { Outbound } from '@troupe/kernel';

/** Statuses that say something about the node or the caller, not about batches. */
const OTHER_TROUBLE = new Set([401, 403, 404, 408, 429]);

/** Logs of many blocks are large. */
const MOST_BYTES = 32 * 1024 * 1024;
const BODILESS = new Set([204, 205, 304]);

type Asked = { id?: unknown };

export interface BatchFetchDeps {
  outbound: Pick<Outbound, 'fetch'>;
  timeoutMs: number;
}

/** A fetch for JSON-RPC batches: a node that does not take them gets the same requests one by one, all at once. */
export function createBatchFetch({ outbound, timeoutMs }: BatchFetchDeps): typeof fetch {
  let takesBatches = true;

  /** As `fetch` would, through the guarded client. */
  async function post(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): Promise<Response> {
    const answer = await outbound.fetch(input instanceof Request ? input.url : input, {
      method: 'POST',
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: typeof init?.body === 'string' ? init.body : '',
      timeout: timeoutMs,
      maxBytes: MOST_BYTES,
      ...(init?.signal && { signal: init.signal }),
    });
    const text = await answer.text();
    const { status } = answer;
    const type = answer.headers['content-type'] ?? 'application/json';
    return new Response(BODILESS.has(status) ? null : text, { status, headers: { 'content-type': type } });
  }

  async function single(input: Parameters<typeof fetch>[0], init: RequestInit | undefined, asked: Asked) {
    const response = await post(input, { ...init, body: JSON.stringify(asked) });
    const answer = (await response.json().catch(() => null)) as object | null;
    if (answer !== null && ('result' in answer || 'error' in answer)) return answer;
    return { jsonrpc: '2.0', id: asked.id, error: { code: -32_000, message: `HTTP ${response.status}` } };
  }

  return async (input, init) => {
    const asked: unknown = JSON.parse(typeof init?.body === 'string' ? init.body : 'null');
    if (!Array.isArray(asked)) return post(input, init);
    if (takesBatches) {
      const response = await post(input, init);
      const text = await response.text();
      const { status } = response;
      if (text.trimStart().startsWith('[') || status >= 500 || OTHER_TROUBLE.has(status)) {
        return new Response(text, { status, headers: response.headers });
      }
      takesBatches = false;
    }
    return Response.json(await Promise.all(asked.map((one: Asked) => single(input, init, one))));
  };
}
