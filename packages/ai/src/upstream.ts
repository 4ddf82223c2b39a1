import { createTurns } from '@troupe/kernel';
import { Pool, type Dispatcher } from 'undici';
import { ProviderError } from './errors.ts';

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

export interface UpstreamOptions {
  provider: string;
  baseUrl: string;
  headers: Readonly<Record<string, string>>;
  timeouts: Timeouts;
  connections: number;
}

interface Answer {
  status: number;
  text: string;
}

export interface Opened {
  status: number;
  /** What has arrived since the last time. Ends with undefined; throws when the answer breaks off. */
  read: () => Promise<Buffer | undefined>;
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

export function createUpstream({ provider, baseUrl, headers, timeouts, connections }: UpstreamOptions): Upstream {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/+$/, '');
  const pool = new Pool(origin, {
    connections,
    connect: { timeout: timeouts.connect },
    headersTimeout: timeouts.firstByte,
    bodyTimeout: timeouts.betweenBytes,
    keepAliveTimeout: 20_000,
  });
  const endOfTurn = createTurns();
  const expiry = createExpiry(timeouts.total);
  const jsonHeaders = { ...headers, 'content-type': 'application/json' };

  const request = (path: string, body?: string): Dispatcher.DispatchOptions => ({
    method: body === undefined ? 'GET' : 'POST',
    path: prefix + path,
    headers: body === undefined ? headers : jsonHeaders,
    body: body ?? null,
  });

  async function whole(options: Dispatcher.DispatchOptions, signal?: AbortSignal): Promise<Answer> {
    const run = () => collect(pool, options, provider, expiry, signal);
    await endOfTurn();
    try {
      return await run();
    } catch (error) {
      if (isStaleSocket(error) && !signal?.aborted) return run();
      throw error;
    }
  }

  async function open(path: string, body: string, signal?: AbortSignal): Promise<Opened> {
    const run = () => openStream(pool, request(path, body), provider, expiry, signal);
    await endOfTurn();
    try {
      return await run();
    } catch (error) {
      if (isStaleSocket(error) && !signal?.aborted) return run();
      throw error;
    }
  }

  return {
    get: (path, signal) => whole(request(path), signal),
    post: (path, body, signal) => whole(request(path, body), signal),
    open,
    // Ends open answers too: by then the caller has given up on them.
    close: () => pool.destroy(),
  };
}

interface Expiry {
  add: (expire: () => void) => void;
  delete: (expire: () => void) => void;
}

/** One timer for all calls, since all get the same time: one for each would cost as much as sending it. */
function createExpiry(milliseconds: number): Expiry {
  /** The oldest first, as they were added. */
  const deadlines = new Map<() => void, number>();
  let timer: NodeJS.Timeout | undefined;
  const tick = (): void => {
    timer = undefined;
    const now = performance.now();
    for (const [expire, deadline] of deadlines) {
      if (deadline > now) return wait(deadline - now);
      deadlines.delete(expire);
      expire();
    }
  };
  const wait = (left: number): void => {
    // A little late rather than early: what ends meanwhile needs no second look.
    timer = setTimeout(tick, left + 1).unref();
  };
  return {
    add(expire) {
      deadlines.set(expire, performance.now() + milliseconds);
      if (!timer) wait(milliseconds);
    },
    delete: (expire) => void deadlines.delete(expire),
  };
}

const STALE = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** A kept-alive socket that the provider closed just as we used it: nothing came back, so the call may go out again. */
const isStaleSocket = (error: unknown): boolean => error instanceof ProviderError && STALE.has(error.detail);

function failure(provider: string, error: Error, started: boolean): ProviderError {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new ProviderError(provider, 'timeout', code);
  }
  if (started) return new ProviderError(provider, 'broken', 'the answer broke off');
  return new ProviderError(provider, 'connection', code || error.message);
}

interface Events {
  head: (status: number) => void;
  data: (chunk: Buffer, controller: Dispatcher.DispatchController) => void;
  end: () => void;
  /** Called at most once, and never after `end`. */
  fail: (error: Error) => void;
}

/** One request with the time limit and the abort signal attached; both are detached when it is over. Returns its abort. */
function send(
  pool: Pool,
  options: Dispatcher.DispatchOptions,
  provider: string,
  expiry: Expiry,
  signal: AbortSignal | undefined,
  events: Events,
): (reason: Error) => void {
  let controller: Dispatcher.DispatchController | undefined;
  let over = false;
  let started = false;

  const finish = (): boolean => {
    if (over) return false;
    over = true;
    expiry.delete(expire);
    signal?.removeEventListener('abort', onAbort);
    return true;
  };
  const abort = (reason: Error): void => {
    if (!finish()) return;
    controller?.abort(reason);
    events.fail(reason);
  };
  const onAbort = (): void => abort(abortReason(signal!));
  const expire = (): void => abort(new ProviderError(provider, 'timeout', 'total time is over'));
  expiry.add(expire);

  if (signal?.aborted) {
    queueMicrotask(onAbort);
    return abort;
  }
  signal?.addEventListener('abort', onAbort, { once: true });
  pool.dispatch(options, {
    onRequestStart(given) {
      controller = given;
      if (over) given.abort(new Error('given up before it was sent'));
    },
    onResponseStart(_controller, status) {
      started = true;
      if (!over && status >= 200) events.head(status);
    },
    onResponseData(given, chunk) {
      if (!over) events.data(chunk, given);
    },
    onResponseEnd() {
      if (finish()) events.end();
    },
    onResponseError(_controller, error) {
      if (finish()) events.fail(failure(provider, error, started));
    },
  });
  return abort;
}

const abortReason = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : new DOMException('This operation was aborted', 'AbortError');

function collect(
  pool: Pool,
  options: Dispatcher.DispatchOptions,
  provider: string,
  expiry: Expiry,
  signal?: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    const abort = send(pool, options, provider, expiry, signal, {
      head: (given) => {
        status = given;
      },
      data: (chunk) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) abort(new ProviderError(provider, 'broken', 'the answer is too large'));
      },
      end: () => {
        const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
        try {
          resolve({ status, text: decode(bytes) });
        } catch {
          reject(new ProviderError(provider, 'broken', 'the answer is not UTF-8'));
        }
      },
      fail: reject,
    });
  });
}

/** Invalid UTF-8 throws: half a character would otherwise reach the user as �. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const decode = (bytes: Buffer): string => UTF8.decode(bytes);

function openStream(
  pool: Pool,
  options: Dispatcher.DispatchOptions,
  provider: string,
  expiry: Expiry,
  signal?: AbortSignal,
): Promise<Opened> {
  return new Promise((resolve, reject) => {
    let queue: Buffer[] = [];
    let unread = 0;
    let done = false;
    let failed: Error | undefined;
    let wake: (() => void) | undefined;
    let paused: Dispatcher.DispatchController | undefined;
    let stopGathering: (() => void) | undefined;
    let lastRead = -Infinity;
    const notify = (): void => {
      wake?.();
      wake = undefined;
    };
    const abort = send(pool, options, provider, expiry, signal, {
      head: (status) => resolve({ status, read, leave }),
      data: (chunk, controller) => {
        queue.push(chunk);
        unread += chunk.length;
        if (unread > HIGH_WATER) {
          controller.pause();
          paused = controller;
          stopGathering?.();
        }
        notify();
      },
      end: () => {
        done = true;
        notify();
        stopGathering?.();
      },
      fail: (error) => {
        failed = error;
        notify();
        stopGathering?.();
        // After the head this changes nothing: the promise is settled.
        reject(error);
      },
    });

    function leave(grace = 0): void {
      if (done || failed) return;
      const go = (): void => abort(new Error('the reader has left'));
      if (grace > 0) setTimeout(go, grace).unref();
      else go();
    }

    async function read(): Promise<Buffer | undefined> {
      if (queue.length === 0 && !failed && !done) {
        await new Promise<void>((ready) => {
          wake = ready;
        });
      }
      const wait = GATHER_MS - (performance.now() - lastRead);
      if (wait > 0 && !done && !failed && !paused) await gather(wait);
      if (queue.length > 0) return takeAll();
      if (failed) throw failed;
      return undefined;
    }

    function gather(milliseconds: number): Promise<void> {
      return new Promise((resolve) => {
        const timer = setTimeout(() => stopGathering?.(), milliseconds);
        stopGathering = () => {
          clearTimeout(timer);
          stopGathering = undefined;
          resolve();
        };
      });
    }

    function takeAll(): Buffer {
      const bytes = queue.length === 1 ? queue[0]! : Buffer.concat(queue, unread);
      queue = [];
      unread = 0;
      lastRead = performance.now();
      const controller = paused;
      paused = undefined;
      controller?.resume();
      return bytes;
    }
  });
}
