import { setTimeout } from 'node:timers/promises';
import type { Client, OAuthClientProvider, Transport } from '@modelcontextprotocol/client';
import { ADDRESS_LENGTH, type McpServer } from '@troupe/domain';
import { answerFault, OutboundError, type Log, type Outbound } from '@troupe/kernel';
import { untilAborted } from '../until-aborted.ts';
import { bounded, MAX_PARTS } from './mcp-bounds.ts';
import { bearableEvents, StreamFault } from './mcp-stream.ts';

/** MCP servers that are services: reached through the guarded client, in whichever of three ways they speak. */

export interface HttpDeps {
  outbound: Outbound;
  log: Log;
  /** What the owner's consent brought; left out: the server gets the headers of its definition alone. */
  authProvider?: OAuthClientProvider;
  /** Every request goes through it. */
  through?: ((fetch: Fetch) => Fetch) | undefined;
}

export interface Link {
  release?: () => void;
  goodbye?: () => Promise<void>;
  /** Why the connection was given up, where that is more than the library can say. */
  fault?: Error;
}

const START_MS = 20_000;
const STREAM_MS = 300_000;
const ASK_MS = 20_000;
const GOODBYE_MS = 2_000;
/** Of one answer, or of one stream of them: it is read on the loop. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
/** Of the one stream that a server of the oldest kind answers everything in. */
const MAX_STREAM_BYTES = 16 * 1024 * 1024;
/** A stream that ends is opened again, but not as often as the server likes. */
const STREAM_EVERY_MS = 2_000;

/** Of JSON-RPC. */
const INTERNAL_ERROR = -32_603;

/** What a server of the oldest kind says to a request that it does not know. */
const UNKNOWN_THERE = new Set([400, 404, 405, 406, 415]);

export async function connectHttp(
  deps: HttpDeps,
  server: McpServer,
  makeClient: (mode: 'auto' | 'legacy') => Client,
  signal: AbortSignal,
): Promise<{ client: Client; link: Link }> {
  const { StreamableHTTPClientTransport, SSEClientTransport } = await import('@modelcontextprotocol/client');
  const url = new URL(server.url ?? '');
  const { authProvider, through = (fetch) => fetch } = deps;
  const options = authProvider ? { authProvider } : {};
  const fetchWith = (maxBytes: number, broken?: Broken) =>
    through(withOwnHeaders(guardedFetch(deps.outbound, maxBytes, { broken }), url, server.headers));
  const transport = new StreamableHTTPClientTransport(url, { ...options, fetch: fetchWith(MAX_ANSWER_BYTES) });
  const leftOut = (count: number): void =>
    deps.log.warn({ server: server.name, count }, 'MCP tools left out: their schemas are too large');
  const client = makeClient('auto');
  try {
    await client.connect(bounded(transport, leftOut), { timeout: START_MS, signal });
    return { client, link: { goodbye: () => farewell(transport, deps.log, server) } };
  } catch (error) {
    await client.close();
    if (!UNKNOWN_THERE.has(statusOf(error) ?? 0)) throw error;
    return connectSse(error);
  }

  /** Where that is not understood either, the first answer tells more. */
  async function connectSse(first: unknown): Promise<{ client: Client; link: Link }> {
    const old = makeClient('legacy');
    const link: Link = {};
    // All answers come in the one stream: what waits for one of them would wait in vain.
    const failed = new AbortController();
    const broken: Broken = (fault) => {
      link.fault = fault;
      failed.abort(fault);
      void old.close();
    };
    const sse: Transport = new SSEClientTransport(url, { ...options, fetch: fetchWith(MAX_STREAM_BYTES, broken) });
    try {
      // The library waits for the first event for as long as it does not come.
      const late = AbortSignal.any([signal, failed.signal, AbortSignal.timeout(START_MS)]);
      await untilAborted(old.connect(bounded(sse, leftOut), { timeout: START_MS, signal }), late);
      return { client: old, link };
    } catch {
      await old.close();
      throw link.fault ?? first;
    }
  }
}

/** The HTTP status that an error of the library carries, wherever in its causes. */
export function statusOf(error: unknown): number | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { status } = one as { status?: unknown };
    if (typeof status === 'number') return status;
  }
  return undefined;
}

async function farewell(
  transport: { terminateSession: () => Promise<void> },
  log: Log,
  { name }: McpServer,
): Promise<void> {
  const said = transport.terminateSession().catch((err: unknown) => {
    log.debug({ err, server: name }, 'MCP session not ended');
  });
  // Nobody waits long for a server that does not listen.
  await Promise.race([said, setTimeout(GOODBYE_MS, undefined, { ref: false })]);
}

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * The headers that the owner gave the server are for the server: the library would show them to every address that it
 * names, such as the one that gives out tokens.
 */
function withOwnHeaders(fetch: Fetch, { origin }: URL, own: Readonly<Record<string, string>>): Fetch {
  return (url, init = {}) => {
    if (new URL(url).origin !== origin) return fetch(url, init);
    const headers = new Headers(own);
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    return fetch(url, { ...init, headers });
  };
}

type Broken = (fault: Error) => void;

interface FetchUse {
  /** Nobody waits for any of it any more. */
  gone?: AbortSignal | undefined;
  /** Told of a stream that broke a bound, where it is not the answer to one request. */
  broken?: Broken | undefined;
}

/** The guarded client in the shape of `fetch`, as far as the library uses it. */
export function guardedFetch(outbound: Outbound, maxBytes: number, { gone, broken }: FetchUse = {}): Fetch {
  let streamAt = 0;
  return async (url, init = {}) => {
    const method = init.method ?? 'GET';
    const signals = [init.signal, gone].filter((one) => one instanceof AbortSignal);
    const signal = signals.length > 0 ? AbortSignal.any(signals) : undefined;
    const headers = Object.fromEntries(new Headers(init.headers));
    // What asks for no stream is about descriptions and tokens.
    const maySpeak = headers['accept']?.includes('text/event-stream') === true;
    if (method === 'GET' && maySpeak) {
      const wait = Math.max(0, streamAt - Date.now());
      streamAt = Date.now() + wait + STREAM_EVERY_MS;
      await setTimeout(wait, undefined, { ref: false, ...(signal && { signal }) });
    }
    const answer = await outbound.fetch(url, {
      method: method as 'GET' | 'POST' | 'DELETE',
      headers,
      ...bodyOf(init.body),
      ...(signal && { signal }),
      timeout: maySpeak ? STREAM_MS : ASK_MS,
      maxBytes,
      redirects: 0,
    });
    const bare = answer.status === 204 || answer.status === 202 || answer.status === 304;
    if (bare) answer.cancel();
    // Whatever is no stream is read at once: the library leaves some answers unread, which would hold their connections.
    const isStream = /^text\/event-stream\b/i.test(answer.headers['content-type'] ?? '');
    const body = bare ? null : isStream ? streamOf(answer, init.body, broken) : await bytesOf(answer, !maySpeak);
    return new Response(body, { status: answer.status, headers: bearableHeaders(answer.headers) });
  };
}

function bodyOf(body: RequestInit['body']): { body?: string } {
  if (typeof body === 'string') return { body };
  return body instanceof URLSearchParams ? { body: body.toString() } : {};
}

type Answer = Awaited<ReturnType<Outbound['fetch']>>;

/** It names an address, which the library reads. */
const WITH_ADDRESS = 'www-authenticate';

function bearableHeaders({ [WITH_ADDRESS]: asks = '', ...headers }: Answer['headers']): Record<string, string> {
  return asks === '' || asks.length > ADDRESS_LENGTH ? headers : { ...headers, [WITH_ADDRESS]: asks };
}

async function bytesOf(answer: Answer, describes: boolean): Promise<Buffer<ArrayBuffer>> {
  const bytes = Buffer.from(await answer.bytes());
  const text = bytes.toString('utf8');
  const fault = answerFault(text, MAX_PARTS) ?? (describes && hasLongText(text) ? LONG_TEXT : undefined);
  if (fault !== undefined) throw new Error(`the server’s answer is not read: ${fault}`);
  return bytes;
}

const LONG_TEXT = 'it has a text that is too long for an address';
const LONGEST_FOREIGN = 300;
/** What is no address, and may be long. */
const SECRETS = /(?:token|secret|client_id|statement)$/;

const isTooLong = (text: string): boolean =>
  text.length > (/[\u0080-\uffff]/.test(text) ? LONGEST_FOREIGN : ADDRESS_LENGTH);

/**
 * Whether a description of a server or of who gives access to it has a text that is too long for an address, as almost all
 * of them are: the library reads each as one, and to read a host takes the square of its length.
 */
function hasLongText(text: string): boolean {
  if (text.length <= ADDRESS_LENGTH) return false;
  try {
    const waiting: unknown[] = [JSON.parse(text)];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (typeof next === 'string' && isTooLong(next)) return true;
      if (typeof next !== 'object' || next === null) continue;
      for (const [key, value] of Object.entries(next)) if (!SECRETS.test(key)) waiting.push(value ?? '');
    }
  } catch {
    // It is no JSON, and the library says so.
  }
  return false;
}

/** What is given up before it was read is given up at the server too. */
function streamOf({ body, cancel }: Answer, asked: RequestInit['body'], broken: Broken | undefined): ReadableStream {
  const chunks = bearableEvents(body, MAX_PARTS);
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        const fault = faultOf(error);
        if (fault === undefined) throw error;
        cancel();
        const last = lastWord(asked, fault);
        if (last === undefined) {
          broken?.(fault);
          throw error;
        }
        controller.enqueue(last);
        controller.close();
      }
    },
    cancel: () => cancel(),
  });
}

/** Undefined: no bound was broken. */
function faultOf(error: unknown): Error | undefined {
  const why =
    error instanceof StreamFault
      ? error.message
      : error instanceof OutboundError && error.kind === 'too_large'
        ? 'it is too large'
        : undefined;
  return why === undefined ? undefined : new Error(`The server’s answer is not read: ${why}`, { cause: error });
}

/**
 * What ends a stream in place of an answer: the library would wait for that until the time of the call is over. What came
 * of an event before is none.
 */
function lastWord(asked: RequestInit['body'], { message }: Error): Uint8Array | undefined {
  if (typeof asked !== 'string') return undefined;
  const { id } = JSON.parse(asked) as { id?: unknown };
  if (id === undefined) return undefined;
  const answer = { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message } };
  return new TextEncoder().encode(`\nevent: broken\n\nevent: message\ndata: ${JSON.stringify(answer)}\n\n`);
}
