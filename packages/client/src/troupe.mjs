import { eventsOf } from './sse.mjs';
import { CallError, createTransport, errorText } from './transport.mjs';

/** An agent may take its time: it has tools to use. */
const ANSWER_TIMEOUT_MS = 15 * 60_000;

/**
 * A client of one platform. Every endpoint of the contract is called by its method and path.
 * @type {typeof import('./index.d.mts').createTroupe}
 */
export function createTroupe({ url, key, fetch, timeout }) {
  /** @type {Record<string, string>} */
  const credentials = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const send = createTransport({
    baseUrl: url.replace(/\/+$/, ''),
    headers: () => credentials,
    ...(fetch && { fetch }),
    ...(timeout !== undefined && { timeout }),
  });

  /** @type {(endpoint: string, input?: import('./index.d.mts').Parts) => Promise<Response>} */
  async function open(endpoint, input = {}) {
    const space = endpoint.indexOf(' ');
    return send({ method: endpoint.slice(0, space), path: endpoint.slice(space + 1) }, input);
  }

  /** @type {(endpoint: string, input?: import('./index.d.mts').Parts) => AsyncGenerator<import('./index.d.mts').SentEvent>} */
  async function* stream(endpoint, input = {}) {
    const headers = { accept: 'text/event-stream', ...input.headers };
    yield* eventsOf(await open(endpoint, { timeout: ANSWER_TIMEOUT_MS, ...input, headers }));
  }

  /** @type {import('./index.d.mts').Troupe['talk']} */
  async function* talk({ signal, ...body }) {
    for await (const { event, data } of stream('POST /api/chat', { body, ...(signal && { signal }) })) {
      const told = JSON.parse(data);
      if (event === 'error') throw new CallError(502, { error: errorText(told.error) ?? 'The answer broke off' });
      if (event === 'delta') yield told.text;
      if (event === 'done') return told.reply;
    }
    throw new CallError(502, { error: 'The answer broke off' });
  }

  return {
    open: /** @type {never} */ (open),
    stream: /** @type {never} */ (stream),
    talk,
    async call(endpoint, input) {
      const response = await open(endpoint, input);
      const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json');
      return /** @type {never} */ (isJson ? await response.json() : await response.text());
    },
  };
}
