import { createEndOfTurn, currentTrace, Gathered, traceparentOf } from '@troupe/kernel';
import type { Dispatcher } from 'undici';
import { ProviderError, secondsToWait } from './errors.ts';
import { createExpiry, Exchange, isStaleSocket, type Headers, type Way } from './exchange.ts';

export interface Timeouts {
  connect: number;
  /** From sending the request to the first byte of the answer. */
  firstByte: number;
  /** Between two bytes of it. */
  betweenBytes: number;
  /** For the whole of an answer, so that a trickle ends too. */
  total: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connect: 5_000,
  // Without a stream nothing comes before the whole answer has been thought of.
  firstByte: 120_000,
  betweenBytes: 60_000,
  total: 600_000,
};

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Unread bytes of a stream at which the provider is asked to wait. */
const HIGH_WATER = 64 * 1024;
/**
 * Pieces that follow each other faster than this are read together: a fast provider then costs a few writes to the
 * client instead of one a token. The first piece and the last never wait, nor does any piece of a slower stream.
 */
const GATHER_MS = 5;

/** The headers of one request that show whose it is. */
export type Authorize = (request: {
  method: 'GET' | 'POST';
  url: URL;
  body: string;
}) => Promise<Record<string, string>>;

export interface UpstreamOptions {
  provider: string;
  baseUrl: string;
  headers: Readonly<Record<string, string>>;
  /** Left out: the headers are all that is shown. */
  authorize?: Authorize;
  timeouts: Timeouts;
  connections: number;
}

interface Head {
  status: number;
  /** Seconds, where the provider says when to come again. */
  retryAfter?: number | undefined;
}

interface Answer extends Head {
  text: string;
}

export interface Opened extends Head {
  /** Settles when there is something to take: bytes that wait, 0 after the last. */
  arrived: () => Promise<number>;
  /** What has arrived since the last time. Undefined: that was all; throws when the answer broke off. */
  take: () => Buffer | undefined;
  /** Gives up on the rest, after `grace` milliseconds; does nothing when the answer is complete. */
  leave: (grace?: number) => void;
}

/** HTTP to one provider, on undici's dispatch: its fetch and request helpers cost several times as much a call. */
export interface Upstream {
  get: (path: string, signal?: AbortSignal) => Promise<Answer>;
  post: (path: string, body: string, signal?: AbortSignal) => Promise<Answer>;
  /** Resolves with the head of the answer; its bytes come as fast as they are read. Must be read to the end or left. */
  open: (path: string, body: string, signal?: AbortSignal) => Promise<Opened>;
  close: () => Promise<void>;
}

export function createUpstream(options: UpstreamOptions): Upstream {
  const { provider, baseUrl, headers, authorize, timeouts, connections } = options;
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/+$/, '');
  const endOfTurn = createEndOfTurn();
  let way: Way | undefined;
  let opening: Promise<Way> | undefined;
  let closed = false;

  /** The library takes some 8 MB: it is loaded at the first call. */
  async function openWay(): Promise<Way> {
    const { Pool } = await import('undici');
    const pool = new Pool(origin, {
      connections,
      connect: { timeout: timeouts.connect },
      headersTimeout: timeouts.firstByte,
      bodyTimeout: timeouts.betweenBytes,
      keepAliveTimeout: 20_000,
    });
    if (closed) await pool.destroy();
    return (way = { pool, provider, expiry: createExpiry(timeouts.total) });
  }

  const jsonHeaders = { ...headers, 'content-type': 'application/json' };

  const request = (path: string, body?: string): Dispatcher.DispatchOptions => ({
    method: body === undefined ? 'GET' : 'POST',
    path: prefix + path,
    headers: body === undefined ? headers : withTraceparent(jsonHeaders),
    body: body ?? null,
  });

  /** Once more, when the first try met a stale socket. */
  async function send<T>(Attempt: AttemptClass<T>, given: Dispatcher.DispatchOptions, signal?: AbortSignal) {
    const open = way ?? (await (opening ??= openWay()));
    const options = authorize ? await authorized(origin, given, authorize) : given;
    return new Promise<T>((resolve, reject) => {
      const again = (error: Error): void => {
        if (isStaleSocket(error) && !signal?.aborted) new Attempt(open, resolve, reject, signal).send(options);
        else reject(error);
      };
      endOfTurn(() => new Attempt(open, resolve, again, signal).send(options));
    });
  }

  return {
    get: (path, signal) => send(WholeAnswer, request(path), signal),
    post: (path, body, signal) => send(WholeAnswer, request(path, body), signal),
    open: (path, body, signal) => send(OpenAnswer, request(path, body), signal),
    // Ends open answers too: by then the caller has given up on them.
    async close() {
      closed = true;
      await way?.pool.destroy();
    },
  };
}

async function authorized(
  origin: string,
  given: Dispatcher.DispatchOptions,
  show: Authorize,
): Promise<Dispatcher.DispatchOptions> {
  const url = new URL(origin + given.path);
  const shown = await show({ method: given.method as 'GET' | 'POST', url, body: (given.body ?? '') as string });
  return { ...given, headers: { ...(given.headers as Record<string, string>), ...shown } };
}

/** The provider's own trace, if it keeps one, hangs together with ours. */
function withTraceparent(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const trace = currentTrace();
  return trace ? { ...headers, traceparent: traceparentOf(trace) } : headers;
}

type AttemptClass<T> = new (
  way: Way,
  done: (value: T) => void,
  failed: (error: Error) => void,
  signal: AbortSignal | undefined,
) => Exchange;

class WholeAnswer extends Exchange {
  readonly #done: (answer: Answer) => void;
  readonly #all = new Gathered();
  #head: Head = { status: 0 };

  constructor(way: Way, done: (answer: Answer) => void, failed: (error: Error) => void, signal?: AbortSignal) {
    super(way, failed, signal);
    this.#done = done;
  }

  protected override head(status: number, headers: Headers): void {
    this.#head = headOf(status, headers);
  }

  protected override data(chunk: Buffer): void {
    this.#all.add(chunk);
    if (this.#all.length > MAX_ANSWER_BYTES)
      this.abort(new ProviderError(this.way.provider, 'broken', 'the answer is too large'));
  }

  protected override end(): void {
    let text: string;
    try {
      text = UTF8.decode(this.#all.take());
    } catch {
      return this.failed(new ProviderError(this.way.provider, 'broken', 'the answer is not UTF-8'));
    }
    this.#done({ ...this.#head, text });
  }
}

const headOf = (status: number, headers: Headers): Head =>
  status < 400 ? { status } : { status, retryAfter: secondsToWait(headers['retry-after'], Date.now()) };

/** Invalid UTF-8 throws: half a character would otherwise reach the user as �. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

class OpenAnswer extends Exchange implements Opened {
  readonly #done: (opened: Opened) => void;
  readonly #waiting = new Untaken();
  #ended = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;
  #paused: Dispatcher.DispatchController | undefined;
  #stopGathering: (() => void) | undefined;
  #lastTaken = -Infinity;
  status = 0;
  retryAfter: number | undefined;

  constructor(way: Way, done: (opened: Opened) => void, failed: (error: Error) => void, signal?: AbortSignal) {
    super(way, failed, signal);
    this.#done = done;
  }

  protected override head(status: number, headers: Headers): void {
    ({ status: this.status, retryAfter: this.retryAfter } = headOf(status, headers));
    this.#done(this);
  }

  protected override data(chunk: Buffer, controller: Dispatcher.DispatchController): void {
    this.#waiting.add(chunk);
    if (this.#waiting.length > HIGH_WATER) {
      controller.pause();
      this.#paused = controller;
      this.#stopGathering?.();
    }
    this.#notify();
  }

  protected override end(): void {
    this.#ended = true;
    this.#notify();
    this.#stopGathering?.();
  }

  protected override fail(error: Error): void {
    this.#failure = error;
    this.#notify();
    this.#stopGathering?.();
    // After the head this changes nothing: the promise is settled.
    super.fail(error);
  }

  leave(grace = 0): void {
    if (this.#ended || this.#failure) return;
    const go = (): void => this.abort(new Error('the reader has left'));
    if (grace > 0) setTimeout(go, grace).unref();
    else go();
  }

  async arrived(): Promise<number> {
    if (this.#waiting.length === 0 && !this.#failure && !this.#ended) {
      await new Promise<void>((ready) => {
        this.#wake = ready;
      });
    }
    const wait = GATHER_MS - (performance.now() - this.#lastTaken);
    if (wait > 0 && !this.#ended && !this.#failure && !this.#paused) await this.#gather(wait);
    return this.#waiting.length;
  }

  take(): Buffer | undefined {
    if (this.#waiting.length > 0) return this.#takeAll();
    if (this.#failure) throw this.#failure;
    return undefined;
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  #gather(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#stopGathering?.(), milliseconds);
      this.#stopGathering = () => {
        clearTimeout(timer);
        this.#stopGathering = undefined;
        resolve();
      };
    });
  }

  #takeAll(): Buffer {
    const bytes = this.#waiting.take();
    this.#lastTaken = performance.now();
    const controller = this.#paused;
    this.#paused = undefined;
    controller?.resume();
    return bytes;
  }
}

const LEAST_ROOM = 1024;

/**
 * What has come and was not taken yet. Pieces that a server sends word by word are put together as they come: each by itself
 * would be an object that outlives the young ones, and thousands of those hold up everybody while they are looked through.
 */
class Untaken {
  #bytes: Buffer | undefined;
  length = 0;

  add(piece: Buffer): void {
    const length = this.length + piece.length;
    // Most come alone.
    if (!this.#bytes) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(piece, this.length);
    }
    this.length = length;
  }

  take(): Buffer {
    const bytes = this.#bytes!.subarray(0, this.length);
    this.#bytes = undefined;
    this.length = 0;
    return bytes;
  }

  #grow(length: number): void {
    const room = Buffer.allocUnsafe(Math.max(LEAST_ROOM, 2 * length));
    room.set(this.#bytes!.subarray(0, this.length));
    this.#bytes = room;
  }
}
