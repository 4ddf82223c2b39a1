import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { Failure, Order, Outcome } from './task.ts';

/** The inside of a thread of the pool: one task after another. */

async function work({ module, input }: Order): Promise<Outcome> {
  try {
    const { run } = (await import(module)) as { run: (input: unknown) => unknown };
    return { ok: true, value: await run(input) };
  } catch (error) {
    return { ok: false, error: failure(error) };
  }
}

function failure(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { code } = error as NodeJS.ErrnoException;
  return { name: error.name, message: error.message, ...(code !== undefined && { code }) };
}

async function answer(order: Order): Promise<void> {
  const outcome = await work(order);
  try {
    parentPort?.postMessage(outcome);
  } catch (error) {
    // What cannot be copied.
    parentPort?.postMessage({ ok: false, error: failure(error) } satisfies Outcome);
  }
}

/** Whoever serves everybody goes first on the processors. */
function standBack(): void {
  try {
    const own = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(own, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Only Linux tells threads apart, and not everywhere is there a /proc: then all are alike.
  }
}

standBack();
parentPort?.on('message', (order: Order) => void answer(order));
