import { Worker } from 'node:worker_threads';
import { AppError } from '../errors.ts';
import { createFairQueue } from '../fair.ts';
import type { Failure, Order, Outcome, Task } from './task.ts';

/**
 * A few threads for what users, models and other servers make us compute. Each task has a deadline and a bound of
 * memory; a thread that misses one is ended and replaced, its call fails with a sentence, and nobody else notices. The
 * threads start with the first task and end when there was none for a while.
 */
export interface WorkerPool {
  /**
   * `key` is whose work it is: keys take turns, and none of them gets every thread. `lane`: a line of its own within the
   * key's share.
   */
  run: <In, Out>(
    task: Task<In, Out>,
    input: In,
    options: { key: string; lane?: string; signal?: AbortSignal },
  ) => Promise<Out>;
  /** Threads that are alive. */
  threads: () => number;
  close: () => Promise<void>;
}

export interface WorkerPoolOptions {
  threads?: number;
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

interface Thread {
  worker: Worker;
  job: Job | undefined;
  timer: NodeJS.Timeout | undefined;
}

const THREADS = 2;
const MEMORY_MB = 128;
const IDLE_MS = 20_000;
const WAIT_MS = 30_000;
const WAITING_PER_KEY = 64;
const WAITING = 2_000;
/** A thread that does not even start. */
const START_MS = 15_000;

export function createWorkerPool({
  threads: most = THREADS,
  memoryMb = MEMORY_MB,
  idleMs = IDLE_MS,
  waitMs = WAIT_MS,
  waitingPerKey = WAITING_PER_KEY,
  waiting = WAITING,
}: WorkerPoolOptions = {}): WorkerPool {
  const queue = createFairQueue({ width: most, perKey: Math.max(1, most - 1), waiting, waitingPerKey, waitMs });
  const threads = new Set<Thread>();
  let closed = false;

  function end(thread: Thread, why: Error): Promise<unknown> {
    threads.delete(thread);
    clearTimeout(thread.timer);
    const ended = thread.worker.terminate();
    finish(thread, why);
    return ended;
  }

  function finish(thread: Thread, outcome: Outcome | Error): void {
    const { job } = thread;
    thread.job = undefined;
    job?.settle(outcome);
  }

  function rest(thread: Thread): void {
    clearTimeout(thread.timer);
    thread.worker.unref();
    thread.timer = setTimeout(() => void end(thread, new Error('idle')), idleMs).unref();
  }

  function start(): Thread {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    });
    const thread: Thread = { worker, job: undefined, timer: undefined };
    threads.add(thread);
    worker.once('online', () => {
      if (thread.job) watch(thread, thread.job.deadlineMs);
    });
    worker.on('message', (outcome: Outcome) => {
      if (!threads.has(thread)) return;
      rest(thread);
      finish(thread, outcome);
    });
    worker.on('messageerror', (error) => void end(thread, error));
    worker.on('error', (error: NodeJS.ErrnoException) => void end(thread, sentence(error)));
    worker.on('exit', () => void end(thread, new Error('The work broke off')));
    return thread;
  }

  function watch(thread: Thread, ms: number): void {
    clearTimeout(thread.timer);
    thread.timer = setTimeout(() => void end(thread, tooLong(ms)), ms);
  }

  /** On a thread that is free: the queue lets no more in than there are. */
  function work<Out>(order: Order, deadlineMs: number, signal: AbortSignal | undefined): Promise<Out> {
    return new Promise((resolve, reject) => {
      if (closed) return reject(stopping());
      const free = [...threads].find(({ job }) => job === undefined);
      const thread = free ?? start();
      const abort = (): void => void end(thread, signal?.reason as Error);
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
      watch(thread, free ? deadlineMs : START_MS);
      try {
        thread.worker.postMessage(order);
      } catch (error) {
        // What cannot be copied does not reach the thread.
        rest(thread);
        finish(thread, error as Error);
      }
    });
  }

  return {
    threads: () => threads.size,
    async run({ module, deadlineMs }, input, { key, lane, signal }) {
      if (closed) throw stopping();
      return queue.run(key, () => work({ module, input }, deadlineMs, signal), signal, lane);
    },
    async close() {
      closed = true;
      queue.drain(stopping());
      await Promise.all([...threads].map((thread) => end(thread, stopping())));
    },
  };
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
