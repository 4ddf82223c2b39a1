import { createPieceCount, Linked, type Place } from '@troupe/kernel';
import type { Dispatcher, Pool } from 'undici';
import { ProviderError } from './errors.ts';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What all calls to one provider share. */
export interface Way {
  pool: Pool;
  provider: string;
  expiry: Expiry;
}

/** Answers before the answer (1xx). */
const MOST_INTERIM = 16;

/** One request and its answer, with the time limit and the abort signal attached; both are detached when it is over. */
export abstract class Exchange implements Dispatcher.DispatchHandler, Expiring {
  protected readonly way: Way;
  /** Called at most once, and never after the end. */
  protected readonly failed: (error: Error) => void;
  readonly #signal: AbortSignal | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #place: Place<Expiring> | undefined;
  deadline = 0;
  #over = false;
  #started = false;
  #interim = 0;
  readonly #count = createPieceCount();
  readonly #onAbort = (): void => {
    const reason: unknown = this.#signal?.reason;
    this.abort(reason instanceof Error ? reason : new DOMException('This operation was aborted', 'AbortError'));
  };

  constructor(way: Way, failed: (error: Error) => void, signal: AbortSignal | undefined) {
    this.way = way;
    this.failed = failed;
    this.#signal = signal;
  }

  protected abstract head(status: number, headers: Headers): void;
  protected abstract data(chunk: Buffer, controller: Dispatcher.DispatchController): void;
  protected abstract end(): void;
  protected fail(error: Error): void {
    this.failed(error);
  }

  send(options: Dispatcher.DispatchOptions): void {
    this.#place = this.way.expiry.add(this);
    if (this.#signal?.aborted) return this.#onAbort();
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.way.pool.dispatch(options, this);
  }

  abort(reason: Error): void {
    if (!this.#finish()) return;
    this.#controller?.abort(reason);
    this.fail(reason);
  }

  expire(): void {
    this.abort(new ProviderError(this.way.provider, 'timeout', 'total time is over'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error('given up before it was sent'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.#started = true;
    if (this.#over) return;
    if (status >= 200) this.head(status, headers);
    else if (++this.#interim > MOST_INTERIM) this.#refuse('the provider sends too many interim answers');
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    if (this.#count(chunk.length)) this.data(chunk, controller);
    else this.#refuse('the answer comes in too many small pieces');
  }

  onResponseEnd(): void {
    if (this.#finish()) this.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#finish()) this.fail(failure(this.way.provider, error, this.#started));
  }

  #refuse(why: string): void {
    this.abort(new ProviderError(this.way.provider, 'broken', why));
  }

  #finish(): boolean {
    if (this.#over) return false;
    this.#over = true;
    if (this.#place) this.way.expiry.delete(this.#place);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

function failure(provider: string, error: Error, started: boolean): ProviderError {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new ProviderError(provider, 'timeout', code);
  }
  if (started) return new ProviderError(provider, 'broken', 'the answer broke off');
  return new ProviderError(provider, 'connection', code || error.message);
}

const STALE = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** A kept-alive socket that the provider closed just as we used it: nothing came back, so the call may go out again. */
export const isStaleSocket = (error: unknown): boolean => error instanceof ProviderError && STALE.has(error.detail);

interface Expiring {
  deadline: number;
  expire: () => void;
}

interface Expiry {
  add: (one: Expiring) => Place<Expiring>;
  delete: (place: Place<Expiring>) => void;
}

/** One timer for all calls, since all get the same time: one for each would cost as much as sending it. */
export function createExpiry(milliseconds: number): Expiry {
  const waiting = new Linked<Expiring>();
  let timer: NodeJS.Timeout | undefined;
  const tick = (): void => {
    timer = undefined;
    const now = performance.now();
    // Whoever expires leaves.
    for (let first = waiting.first(); first; first = waiting.first()) {
      if (first.deadline > now) return wait(first.deadline - now);
      first.expire();
    }
  };
  const wait = (left: number): void => {
    // A little late rather than early: what ends meanwhile needs no second look.
    timer = setTimeout(tick, left + 1).unref();
  };
  return {
    add(one) {
      one.deadline = performance.now() + milliseconds;
      if (!timer) wait(milliseconds);
      return waiting.add(one);
    },
    delete: (place) => waiting.delete(place),
  };
}
