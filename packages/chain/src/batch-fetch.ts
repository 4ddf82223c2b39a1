/** Statuses that say something about the node or the caller, not about batches. */
const OTHER_TROUBLE = new Set([401, 403, 404, 408, 429]);

type Asked = { id?: unknown };

/** A fetch for JSON-RPC batches: a node that does not take them gets the same requests one by one, all at once. */
export function createBatchFetch(): typeof fetch {
  let takesBatches = true;

  async function single(input: Parameters<typeof fetch>[0], init: RequestInit | undefined, asked: Asked) {
    const response = await fetch(input, { ...init, body: JSON.stringify(asked) });
    const answer = (await response.json().catch(() => null)) as object | null;
    if (answer !== null && ('result' in answer || 'error' in answer)) return answer;
    return { jsonrpc: '2.0', id: asked.id, error: { code: -32_000, message: `HTTP ${response.status}` } };
  }

  return async (input, init) => {
    const asked: unknown = JSON.parse(typeof init?.body === 'string' ? init.body : 'null');
    if (!Array.isArray(asked)) return fetch(input, init);
    if (takesBatches) {
      const response = await fetch(input, init);
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
