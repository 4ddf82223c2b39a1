import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { rulesFor, type AddressRules } from './addresses.ts';
import { bearable } from './bearable.ts';
import { guardedConnector } from './connect.ts';
import { secured } from './secured.ts';
import { ACCEPTED_ENCODINGS, decoded, type Bytes } from './decode.ts';
import { OutboundError, outboundError } from './errors.ts';
import { parseAnswer } from '../json.ts';
import { Gathered } from '../pieces.ts';
import { createResolve, systemResolve, type Resolve } from './resolve.ts';

/**
 * The one HTTP client for everything that is fetched from outside. It connects only to allowed addresses (checked on the
 * address really used, on every redirect), gives up in time, and never reads or unpacks more than it was told to.
 */

export interface OutboundOptions extends AddressRules {
  /** Sent unless a request brings its own. */
  userAgent?: string;
  /** Milliseconds until a connection stands, DNS and TLS included; 5,000 unless said. */
  connectTimeout?: number;
  /** Milliseconds of silence, before the headers and between pieces of the body; 10,000 unless said. */
  idleTimeout?: number;
  /** Connections serve the next request, too. For callers that ask again when a kept one was just closed. */
  keepAlive?: boolean;
  /** DNS, for tests. */
  resolve?: Resolve;
}

export interface OutboundRequest {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Milliseconds for everything: all redirects, and until the body has been read; 10,000 unless said. */
  timeout?: number;
  /** Most bytes of the body, counted both as sent and as unpacked; 5 MB unless said. */
  maxBytes?: number;
  /** Redirects that are followed; 0 gives the 3xx answer itself; 5 unless said. */
  redirects?: number;
  signal?: AbortSignal;
}

/** Read the body in one of the ways, or `cancel()`: until then it holds a connection (at most until the timeout). */
export interface OutboundResponse {
  status: number;
  /** Lower-case names; repeated ones are joined with a comma. */
  headers: Readonly<Record<string, string>>;
  /** Where the answer came from, after redirects. */
  url: string;
  body: AsyncIterable<Uint8Array>;
  bytes: () => Promise<Uint8Array>;
  /** The body as UTF-8. */
  text: () => Promise<string>;
  json: () => Promise<unknown>;
  cancel: () => void;
}

/** Where a connection without HTTP goes, such as one to a mail server. */
interface Target {
  host: string;
  port: number;
  /** TLS from the first byte on; `secured` begins it later. */
  tls?: boolean;
}

export interface Outbound {
  /** A connection under the same rules; throws an OutboundError. Whoever asked ends it. */
  connect: (target: Target) => Promise<Socket>;
  /** Throws an OutboundError; or the signal's reason when the caller aborted. A status of 400 or more is an answer. */
  fetch: (url: string | URL, request?: OutboundRequest) => Promise<OutboundResponse>;
  close: () => Promise<void>;
}

const MAX_HEADER_BYTES = 65_536;
/** Characters of an address, also of one that a redirect names: to read its host takes the square of its length. */
const MAX_ADDRESS = 8192;

export function createOutbound({
  userAgent = 'Troupe/1.0',
  connectTimeout = 5_000,
  idleTimeout = 10_000,
  keepAlive = false,
  resolve,
  ...rules
}: OutboundOptions = {}): Outbound {
  // Only an operator's own addresses may be private: those names are found as on the whole machine.
  const outside = createResolve();
  const found =
    resolve ?? ((name: string) => (rulesFor(rules, name).allowPrivate === true ? systemResolve(name) : outside(name)));
  let way: Dispatcher | undefined;
  let closed = false;

  /** The library takes some 8 MB: it is loaded when something is first fetched. */
  async function openWay(): Promise<Dispatcher> {
    const undici = await import('undici');
    way ??= new undici.Agent({
      connect: guardedConnector(undici.buildConnector, rules, { resolve: found, timeout: connectTimeout }),
      headersTimeout: idleTimeout,
      bodyTimeout: idleTimeout,
      maxHeaderSize: MAX_HEADER_BYTES,
      allowH2: false,
      // A kept connection may be closed by the other side just when it is used again.
      pipelining: keepAlive ? 1 : 0,
    }).compose(bearable);
    if (closed) await way.destroy();
    return way;
  }

  async function fetch(url: string | URL, request: OutboundRequest = {}): Promise<OutboundResponse> {
    const { timeout = 10_000, maxBytes = 5_242_880, redirects = 5, signal } = request;
    const limit = startLimit(timeout, signal);
    try {
      let hop: Hop = { ...request, url: checkedUrl(url), headers: { 'user-agent': userAgent, ...request.headers } };
      for (let followed = 0; ; followed += 1) {
        const answer = await send(way ?? (await openWay()), hop, limit.signal);
        const next = redirects > 0 ? redirected(hop, answer) : undefined;
        if (!next) return response(answer, hop.url, maxBytes, limit);
        answer.body.on('error', () => {}).destroy();
        if (followed >= redirects) throw new OutboundError('redirects');
        hop = next;
      }
    } catch (error) {
      limit.end();
      throw limit.reason() ?? outboundError(error);
    }
  }

  return {
    fetch,
    connect: (target) => connectTo(target, rules, { resolve: found, timeout: connectTimeout }),
    async close() {
      closed = true;
      await way?.destroy();
    },
  };
}

async function connectTo(
  { host, port, tls = false }: Target,
  rules: AddressRules,
  how: { resolve: Resolve; timeout: number },
): Promise<Socket> {
  const { buildConnector } = await import('undici');
  const open = guardedConnector(buildConnector, rules, how);
  const socket = await new Promise<Socket>((resolved, rejected) => {
    open({ hostname: host, host, port: String(port), protocol: 'http:' }, (...[error, made]) =>
      error ? rejected(outboundError(error)) : resolved(made),
    );
  });
  return tls ? secured(socket, host, how.timeout) : socket;
}

interface Limit {
  signal: AbortSignal;
  /** Why the signal was aborted, as the error to throw. */
  reason: () => Error | undefined;
  end: () => void;
}

/** One signal for the deadline and the caller's own; its timer lives until `end`. */
function startLimit(timeout: number, outer: AbortSignal | undefined): Limit {
  const controller = new AbortController();
  const onAbort = () => controller.abort(outer?.reason);
  const timer = setTimeout(() => controller.abort(new OutboundError('timeout')), timeout);
  if (outer?.aborted) onAbort();
  else outer?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    reason: () => (controller.signal.aborted ? (controller.signal.reason as Error) : undefined),
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', onAbort);
    },
  };
}

/** The URL, when it is one that may be fetched; its address is checked when it is connected to. */
function checkedUrl(given: string | URL, base?: URL): URL {
  const text = String(given);
  const url = text.length > MAX_ADDRESS ? null : URL.parse(text, base?.href);
  if (!url) throw new OutboundError('bad_url');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutboundError('bad_url', { message: 'URL must be http or https' });
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundError('bad_url', { message: 'Credentials in the URL are not allowed' });
  }
  return url;
}

interface Hop extends OutboundRequest {
  url: URL;
  headers: Readonly<Record<string, string>>;
}

type Answer = Dispatcher.ResponseData;

const send = (way: Dispatcher, { url, method = 'GET', headers, body }: Hop, signal: AbortSignal): Promise<Answer> =>
  way.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: { 'accept-encoding': ACCEPTED_ENCODINGS, ...headers },
    body: body ?? null,
    signal,
  });

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The request that a redirect asks for; undefined when the answer is none. */
function redirected(hop: Hop, { statusCode, headers }: Answer): Hop | undefined {
  const location = [headers['location']].flat()[0];
  if (!REDIRECTS.has(statusCode) || location === undefined) return undefined;
  const url = checkedUrl(location, hop.url);
  const next: Hop = { ...hop, url };
  const isElsewhere = url.origin !== hop.url.origin;
  if (isElsewhere) next.headers = only(hop.headers, (name) => SAID_ANYWHERE.has(name));
  const method = hop.method ?? 'GET';
  if (statusCode === 303 ? method !== 'HEAD' : statusCode < 303 && method === 'POST') {
    next.method = 'GET';
    delete next.body;
    next.headers = only(next.headers, (name) => !name.startsWith('content-'));
  }
  if (isElsewhere && next.body !== undefined)
    throw new OutboundError('redirects', { message: 'Target sends what it was given on to another address' });
  return next;
}

/** What is no secret, whoever reads it. Any other header may be one: services call theirs as they like. */
const SAID_ANYWHERE = new Set(['user-agent', 'accept', 'accept-language', 'range']);

const only = (headers: Readonly<Record<string, string>>, isKept: (name: string) => boolean): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name.toLowerCase())));

function response(answer: Answer, url: URL, maxBytes: number, limit: Limit): OutboundResponse {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers[name] = [value].flat().join(', ');
  }
  // Also when nobody is reading: a connection that fails then must not bring the process down.
  answer.body.on('error', () => {});

  function cancel() {
    limit.end();
    answer.body.destroy();
  }
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      yield* decoded(answer.body as Bytes, headers['content-encoding'], maxBytes);
    } catch (error) {
      throw limit.reason() ?? outboundError(error);
    } finally {
      cancel();
    }
  }
  const body = read();
  async function bytes(): Promise<Uint8Array> {
    const all = new Gathered();
    for await (const chunk of body) all.add(chunk);
    return all.take();
  }
  const text = async () => new TextDecoder().decode(await bytes());
  const json = async () => parseAnswer(await text());
  return { status: answer.statusCode, headers, url: url.href, body, bytes, text, json, cancel };
}
