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

parentPort?.on('message', (order: Order) => void answer(order));
