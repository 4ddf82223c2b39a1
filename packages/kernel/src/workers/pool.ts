import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { AppError } from '../errors.ts';
import { createFairQueue, type FairQueue } from '../fair.ts';
import type { Failure, Order, Outcome, Task } from './task.ts';

/**
 * A few threads for what users, models and other servers make us compute. Each task has a deadline and a bound of
 * memory; a thread that misses one is ended and replaced, its call fails with a sentence, and nobody else notices. The
 * threads start with the first task and end when there was none for a while.
 */
export interface WorkerPool {
  /**
   * `key` is whose work it is: keys take turns, and none of them gets every thread. `lane`: a line of its own within the
   * key's share. `give`: what of the input is handed over instead of copied, and nobody else's any more.
   */
  run: <In, Out>(
    task: Task<In, Out>,
    input: In,
    options: { key: string; lane?: string; signal?: AbortSignal; give?: readonly ArrayBuffer[] },
  ) => Promise<Out>;
  /** Threads that are alive. */
  threads: () => number;
  close: () => Promise<void>;
}

export interface WorkerPoolOptions {
  threads?: number;
  /** With those of what takes long. */
  most?: number;
  /** Of a thread's heap. */
  memoryMb?: number;
  idleMs?: number;
  /** Longest wait for a thread. */
  waitMs?: number;
  waitingPerKey?: number;
  waiting?: number;
}

interface Job {
  deadlineMs: number;
  settle: (outcome: Outcome | Error) => void;
}

interface Work {
  order: Order;
  give: readonly ArrayBuffer[];
  deadlineMs: number;
  signal: AbortSignal | undefined;
}

interface Thread {
  worker: Worker;
  job: Job | undefined;
  timer: NodeJS.Timeout | undefined;
}

const THREADS = 2;
/** What has a thread for longer leaves its place to others, who get one more, up to that many. */
const LONG_MS = 1000;
const MOST_THREADS = 6;
const MEMORY_MB = 128;
const IDLE_MS = 20_000;
const WAIT_MS = 30_000;
const WAITING_PER_KEY = 64;
const WAITING = 2_000;
/** A thread that does not even start. */
const START_MS = 15_000;
/** How often what had no processor is given its time again. */
const AGAIN = 3;
/** Part of its time that a task has had the processor, at least: as many threads as there may be, all at work, have that on one core. */
const HARDLY = 1 / MOST_THREADS;
/** A thread that is asked for its time and says nothing is no longer there. */
const SAY_MS = 1000;

class ThreadPool implements WorkerPool {
  readonly #most: number;
  readonly #memoryMb: number;
  readonly #idleMs: number;
  readonly #queue: FairQueue;
  readonly #threads = new Set<Thread>();
  #closed = false;

  constructor({
    threads = THREADS,
    most = MOST_THREADS,
    memoryMb = MEMORY_MB,
    idleMs = IDLE_MS,
    waitMs = WAIT_MS,
    waitingPerKey = WAITING_PER_KEY,
    waiting = WAITING,
  }: WorkerPoolOptions) {
    this.#most = Math.max(threads, most);
    this.#memoryMb = memoryMb;
    this.#idleMs = idleMs;
    this.#queue = createFairQueue({
      width: threads,
      perKey: Math.max(1, threads - 1),
      waiting,
      waitingPerKey,
      waitMs,
    });
  }

  threads(): number {
    return this.#threads.size;
  }

  async run<In, Out>(
    { module, deadlineMs }: Task<In, Out>,
    input: In,
    { key, lane, signal, give = [] }: Parameters<WorkerPool['run']>[2],
  ): Promise<Out> {
    if (this.#closed) throw stopping();
    const work = async (leave: () => void): Promise<Out> => {
      const timer = setInterval(() => this.#threads.size < this.#most && leave(), LONG_MS).unref();
      try {
        return await this.#work<Out>({ order: { module, input }, give, deadlineMs, signal });
      } finally {
        clearInterval(timer);
      }
    };
    return this.#queue.run(key, work, signal, lane);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#queue.drain(stopping());
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, stopping())));
  }

  #end(thread: Thread, why: Error): Promise<unknown> {
    this.#threads.delete(thread);
    clearTimeout(thread.timer);
    const ended = thread.worker.terminate();
    this.#finish(thread, why);
    return ended;
  }

  #finish(thread: Thread, outcome: Outcome | Error): void {
    const { job } = thread;
    thread.job = undefined;
    job?.settle(outcome);
  }

  #rest(thread: Thread): void {
    clearTimeout(thread.timer);
    thread.worker.unref();
    thread.timer = setTimeout(() => void this.#end(thread, new Error('idle')), this.#idleMs).unref();
  }

  #start(): Thread {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    });
    const thread: Thread = { worker, job: undefined, timer: undefined };
    this.#threads.add(thread);
    worker.once('online', () => {
      if (thread.job) this.#watch(thread, thread.job.deadlineMs);
    });
    worker.on('message', (outcome: Outcome) => {
      if (!this.#threads.has(thread)) return;
      this.#rest(thread);
      this.#finish(thread, outcome);
    });
    worker.on('messageerror', (error) => void this.#end(thread, error));
    worker.on('error', (error: NodeJS.ErrnoException) => void this.#end(thread, sentence(error)));
    worker.on('exit', () => void this.#end(thread, new Error('The work broke off')));
    return thread;
  }

  #watch(thread: Thread, ms: number, again = AGAIN): void {
    clearTimeout(thread.timer);
    thread.timer = setTimeout(() => void this.#judge(thread, ms, again), ms);
  }

  /** Its time is over. Where the machine had other things to do, that is no fault of the task. */
  async #judge(thread: Thread, ms: number, again: number): Promise<void> {
    const { job } = thread;
    const waited = again > 0 && (await workedMs(thread.worker)) < ms * HARDLY;
    if (thread.job !== job || !this.#threads.has(thread)) return;
    if (waited) this.#watch(thread, ms, again - 1);
    else await this.#end(thread, tooLong(ms));
  }

  /** On a thread that is free: the queue lets no more in than there are. */
  #work<Out>({ order, give, deadlineMs, signal }: Work): Promise<Out> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(stopping());
      const free = [...this.#threads].find(({ job }) => job === undefined);
      const thread = free ?? this.#start();
      const abort = (): void => void this.#end(thread, signal?.reason as Error);
      thread.job = {
        deadlineMs,
        settle: (outcome) => {
          signal?.removeEventListener('abort', abort);
          if (outcome instanceof Error) reject(outcome);
          else if (outcome.ok) resolve(outcome.value as Out);
          else reject(errorOf(outcome.error));
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      thread.worker.ref();
      this.#watch(thread, free ? deadlineMs : START_MS);
      try {
        thread.worker.postMessage(order, give);
      } catch (error) {
        // What cannot be copied does not reach the thread.
        this.#rest(thread);
        this.#finish(thread, error as Error);
      }
    });
  }
}

export const createWorkerPool = (options: WorkerPoolOptions = {}): WorkerPool => new ThreadPool(options);

/** Of the processor, since the thread began; endless for one that does not say it. */
function workedMs(worker: Worker): Promise<number> {
  const said = worker.cpuUsage().then(
    ({ user, system }) => (user + system) / 1000,
    () => Infinity,
  );
  return Promise.race([said, delay(SAY_MS, Infinity, { ref: false })]);
}

const stopping = (): Error => new AppError(503, 'The platform is stopping');

const tooLong = (ms: number): Error =>
  new AppError(422, `This took more than ${ms / 1000} s to compute and was stopped. Ask for less at once.`);

function sentence(error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new AppError(422, 'This took too much memory to compute and was stopped. Ask for less at once.');
}

const errorOf = ({ name, message, code }: Failure): Error =>
  Object.assign(new Error(message), { name, ...(code !== undefined && { code }) });
