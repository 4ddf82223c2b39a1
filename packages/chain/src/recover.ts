import { Worker } from 'node:worker_threads';
import type { Address, Hex } from 'viem';
import { AppError } from '@troupe/kernel';

/**
 * Recovers the signer of a hash in a thread of its own: a flood of bad signatures must not slow what else the process
 * serves. The thread starts with the first signature, and ends when there were none for a while.
 */
export interface Recover {
  /** Null when it is no signature at all. */
  (hash: Hex, signature: Hex): Promise<Address | null>;
  close: () => Promise<void>;
}

const MAX_WAITING = 1_000;
const IDLE_MS = 60_000;
const SIGNATURE = /^0x[0-9a-fA-F]{130}$/;

interface Waiting {
  resolve: (address: Address | null) => void;
  reject: (error: Error) => void;
}

export function createRecover({ maxWaiting = MAX_WAITING, idleMs = IDLE_MS } = {}): Recover {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let next = 0;

  function stop(): Promise<unknown> {
    clearTimeout(idle);
    const ended = worker;
    worker = undefined;
    return ended?.terminate() ?? Promise.resolve();
  }

  function fail(started: Worker, error: Error): void {
    if (worker === started) worker = undefined;
    for (const entry of waiting.values()) entry.reject(error);
    waiting.clear();
  }

  function start(): Worker {
    const started = new Worker(new URL('./recover-worker.ts', import.meta.url), { execArgv: [] });
    started.on('message', ({ id, address }: { id: number; address: Address | null }) => {
      waiting.get(id)?.resolve(address);
      waiting.delete(id);
      if (waiting.size > 0) return;
      started.unref();
      clearTimeout(idle);
      idle = setTimeout(() => void stop(), idleMs).unref();
    });
    started.on('error', (error) => fail(started, error instanceof Error ? error : new Error(String(error))));
    return started;
  }

  const recover = (hash: Hex, signature: Hex): Promise<Address | null> => {
    if (!SIGNATURE.test(signature)) return Promise.resolve(null);
    if (waiting.size >= maxWaiting) return Promise.reject(new AppError(503, 'Too many signatures to verify'));
    clearTimeout(idle);
    worker ??= start();
    worker.ref();
    return new Promise((resolve, reject) => {
      const id = next++;
      waiting.set(id, { resolve, reject });
      worker?.postMessage({ id, hash, signature });
    });
  };

  return Object.assign(recover, {
    async close() {
      await stop();
      for (const entry of waiting.values()) entry.reject(new Error('signature checks have stopped'));
      waiting.clear();
    },
  });
}
