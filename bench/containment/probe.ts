import { setTimeout as delay } from 'node:timers/promises';
import type { Scene } from '@troupe/testing/attacks/scene';
import { send, type Reply } from '@troupe/testing/services/people';

/** Milliseconds. */
export type Times = Record<'health median' | 'health p99' | 'chat median' | 'chat p99' | 'failed', number>;

const PAUSE_MS = 20;

/** Asks for health and chats as the bystander for a while, one after the other, and says how long it took. */
export function createProbe({ web, bystander }: Scene): (ms: number) => Promise<Times> {
  return async (ms) => {
    const end = performance.now() + ms;
    const [health, chat] = await Promise.all([
      times(() => send(`${web}/api/health`, 'GET'), end),
      times(() => bystander.chat({ say: 'still here' }), end),
    ]);
    return {
      'health median': at(health.taken, 0.5),
      'health p99': at(health.taken, 0.99),
      'chat median': at(chat.taken, 0.5),
      'chat p99': at(chat.taken, 0.99),
      failed: health.failed + chat.failed,
    };
  };
}

/** What is not answered at the end counts with the time that it has waited; a refusal counts as never answered. */
async function times(ask: () => Promise<Reply>, end: number): Promise<{ taken: number[]; failed: number }> {
  const taken: number[] = [];
  let failed = 0;
  while (performance.now() < end) {
    const began = performance.now();
    const late = delay(end - began, undefined, { ref: false });
    const reply = await Promise.race([ask().catch(() => ({ status: 0 })), late]);
    const answered = reply === undefined || reply.status === 200;
    if (!answered) failed += 1;
    taken.push(answered ? performance.now() - began : end - began);
    await delay(PAUSE_MS);
  }
  return { taken, failed };
}

function at(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
