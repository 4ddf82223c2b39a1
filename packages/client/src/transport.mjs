/**
 * @typedef {import('./index.d.mts').Parts} Parts
 * @typedef {import('./index.d.mts').TransportOptions} TransportOptions
 */

/**
 * What is wrong, as our own endpoints say it or as those in another's shape do.
 * @param {unknown} error
 * @returns {string | undefined}
 */
export function errorText(error) {
  const said =
    typeof error === 'object' && error !== null ? /** @type {{ message?: unknown }} */ (error).message : error;
  return typeof said === 'string' ? said : undefined;
}

/** What a call failed with: the status and the whole error body of the service. */
export class CallError extends Error {
  /**
   * @param {number} status
   * @param {Record<string, unknown>} body
   * @param {Record<string, string>} headers What says when to come back.
   */
  constructor(status, body, headers = {}) {
    super(errorText(body['error']) ?? `HTTP ${status}`);
    this.name = 'CallError';
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/**
 * Fills `:name` in the path and appends the query; undefined values are left out.
 * @param {{ path: string }} endpoint
 * @param {Pick<Parts, 'params' | 'query'>} parts
 */
export function urlOf({ path }, { params, query }) {
  const filled = path.replace(/:([A-Za-z]+)/g, (_, name) => segment(name, String(params?.[name])));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {}))
    if (value !== undefined && value !== null) search.set(key, String(value));
  return search.size > 0 ? `${filled}?${search}` : filled;
}

/**
 * No encoding keeps a URL from taking these for steps up, and an empty part would mean the list instead of one of it.
 * @param {string} name
 * @param {string} value
 */
function segment(name, value) {
  if (value === '' || value === '.' || value === '..') throw new CallError(400, { error: `${name} is not valid` });
  return encodeURIComponent(value);
}

const TELLS_WHEN = ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];

/** @param {Response} response */
function whenHeaders({ headers }) {
  return Object.fromEntries(
    TELLS_WHEN.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** @param {Response} response */
async function errorBody(response) {
  const text = await response.text();
  try {
    const body = /** @type {unknown} */ (JSON.parse(text));
    if (typeof body === 'object' && body !== null) return plainError(/** @type {Record<string, unknown>} */ (body));
  } catch {
    // Not JSON: something in between answered, and its page is for nobody who asked us. The status says what there is to say.
  }
  return {};
}

/**
 * An error in another's shape, as our own endpoints would say it.
 * @param {Record<string, unknown>} body
 * @returns {Record<string, unknown>}
 */
function plainError(body) {
  const { error } = body;
  if (typeof error !== 'object' || error === null || errorText(error) === undefined) return body;
  const { message, type: _, param: __, code, ...more } = /** @type {Record<string, unknown>} */ (error);
  return { ...more, ...(code === null || code === undefined ? {} : { code }), error: message };
}

/**
 * Sends requests; a status of 400 or more is thrown as a CallError.
 * @type {typeof import('./index.d.mts').createTransport}
 */
export function createTransport({ baseUrl, headers, fetch: send = fetch, timeout = 30_000 }) {
  return async (endpoint, input) => {
    const limit = AbortSignal.timeout(input.timeout ?? timeout);
    const { body, bytes } = input;
    const type = bytes ? 'application/octet-stream' : body === undefined ? undefined : 'application/json';
    const response = await send(baseUrl + urlOf(endpoint, input), {
      method: endpoint.method,
      headers: {
        ...(type && { 'content-type': type }),
        ...headers?.(),
        ...input.headers,
      },
      body: bytes ?? (body === undefined ? undefined : JSON.stringify(body)),
      signal: input.signal ? AbortSignal.any([input.signal, limit]) : limit,
    });
    if (response.status < 400) return response;
    throw new CallError(response.status, await errorBody(response), whenHeaders(response));
  };
}
