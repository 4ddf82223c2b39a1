import type { Database, Jobs, Listener } from '@troupe/db';
import type { Cipher, Clock, Log, Outbound } from '@troupe/kernel';

/** What brings messages to addresses that users gave: webhooks and push services. */
export interface BringingDeps {
  db: Database;
  jobs: Jobs;
  listener: Listener;
  clock: Clock;
  log: Log;
  outbound: Outbound;
  cipher: Cipher;
}

const BATCH = 100;
const ANSWER_MS = 15_000;
/** Of an answer, which nobody reads. */
const MAX_BYTES = 64 * 1024;
/** One user's dead address holds at most so many places of all processes. */
export const PLACES = { concurrency: 8, perOwner: 2 };

/** Takes up a batch after the other until there is nothing more; `take` answers how many it took. */
export async function takeAll(take: (most: number) => Promise<number>): Promise<void> {
  while ((await take(BATCH)) === BATCH);
}

interface Message {
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** The status of the answer; throws an OutboundError. Nothing is sent on: what is sealed or signed goes where it was meant to. */
export async function bring(outbound: Outbound, url: string, { headers, body }: Message): Promise<number> {
  const bounds = { timeout: ANSWER_MS, maxBytes: MAX_BYTES, redirects: 0 };
  const answer = await outbound.fetch(url, { method: 'POST', headers, body, ...bounds });
  answer.cancel();
  return answer.status;
}
