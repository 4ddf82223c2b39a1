import type { Endpoint, EndpointTypes } from './endpoint.ts';

/** What is wrong, as our own endpoints say it or as those in another's shape do. */
export const errorText = (error: unknown): string | undefined => {
  const said = typeof error === 'object' && error !== null ? (error as { message?: unknown }).message : error;
  return typeof said === 'string' ? said : undefined;
};

/** An error in another's shape, as our own endpoints would say it. */
function plainError(body: Record<string, unknown>): Record<string, unknown> {
  const { error } = body;
  if (typeof error !== 'object' || error === null || errorText(error) === undefined) return body;
  const { message, type: _, param: __, code, ...more } = error as Record<string, unknown>;
  return { ...more, ...(code === null || code === undefined ? {} : { code }), error: message };
}

/** What a call failed with: the status and the whole error body of the service. */
export class CallError extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;
  /** What says when to come back. */
  readonly headers: Record<string, string>;
  constructor(status: number, body: Record<string, unknown>, headers: Record<string, string> = {}) {
    super(errorText(body['error']) ?? `HTTP ${status}`);
    this.name = 'CallError';
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export interface ClientOptions {
  baseUrl: string;
  /** Sent with every call. */
  headers?: () => Record<string, string>;
  fetch?: typeof fetch;
  /** Milliseconds until a call is given up; 30,000 unless said. */
  timeout?: number;
}

type Named<T> = { [K in keyof T as T[K] extends undefined ? never : K]: T[K] };
type Optional<T> = { [K in keyof T]: object extends T[K] ? K : never }[keyof T];
/** What an endpoint takes; a part of which nothing is needed may be left out. */
type Given<T> = Omit<Named<T>, Optional<Named<T>>> & Partial<Pick<Named<T>, Optional<Named<T>>>>;

export type CallInput<T extends EndpointTypes> = Given<T['sent']> & {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  timeout?: number;
  /** The body of an endpoint that takes a file. */
  bytes?: Blob | Uint8Array<ArrayBuffer>;
};

export type Call = <T extends EndpointTypes>(endpoint: Endpoint<T>, input: CallInput<T>) => Promise<T['reply']>;

export interface Client {
  call: Call;
  /** The same request, with the answer untouched: for streams. A status of 400 or more throws all the same. */
  open: <T extends EndpointTypes>(endpoint: Endpoint<T>, input: CallInput<T>) => Promise<Response>;
}

interface Parts {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** Fills `:name` in the path and appends the query; undefined values are left out. */
export function urlOf(endpoint: Pick<Endpoint, 'path'>, { params, query }: Parts): string {
  const path = endpoint.path.replace(/:([A-Za-z]+)/g, (_, name: string) => segment(name, String(params?.[name])));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null) search.set(key, String(value as string | number | boolean));
  }
  return search.size > 0 ? `${path}?${search}` : path;
}

/** No encoding keeps a URL from taking these for steps up, and an empty part would mean the list instead of one of it. */
function segment(name: string, value: string): string {
  if (value === '' || value === '.' || value === '..') throw new CallError(400, { error: `${name} is not valid` });
  return encodeURIComponent(value);
}

const TELLS_WHEN = ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];

function whenHeaders({ headers }: Response): Record<string, string> {
  return Object.fromEntries(
    TELLS_WHEN.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

export function createClient({ baseUrl, headers, fetch: send = fetch, timeout = 30_000 }: ClientOptions): Client {
  async function open(
    endpoint: Endpoint,
    input: Parts & Pick<CallInput<EndpointTypes>, 'headers' | 'signal' | 'timeout' | 'bytes'>,
  ) {
    const limit = AbortSignal.timeout(input.timeout ?? timeout);
    const hasBody = endpoint.body !== undefined && input.body !== undefined;
    const response = await send(baseUrl + urlOf(endpoint, input), {
      method: endpoint.method,
      headers: {
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...(input.bytes ? { 'content-type': 'application/octet-stream' } : {}),
        ...headers?.(),
        ...input.headers,
      },
      body: hasBody ? JSON.stringify(input.body) : input.bytes,
      signal: input.signal ? AbortSignal.any([input.signal, limit]) : limit,
    });
    if (response.status < 400) return response;
    throw new CallError(response.status, await errorBody(response), whenHeaders(response));
  }

  const client: Client = {
    open: (endpoint, input) => open(endpoint, input as Parts),
    call: async (endpoint, input) => {
      const response = await open(endpoint, input as Parts);
      return (endpoint.reply ? await response.json() : await response.text()) as never;
    },
  };
  return client;
}

async function errorBody(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null) return plainError(body as Record<string, unknown>);
  } catch {
    // Not JSON: a proxy in between answered. Its text is the best there is.
  }
  return { error: text.slice(0, 300) || `HTTP ${response.status}` };
}
