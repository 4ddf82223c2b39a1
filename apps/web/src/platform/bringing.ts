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
/** One user's dead address holds at most so many places of all processes. */
export const PLACES = { concurrency: 8, perOwner: 2 };

/** Takes up a batch after the other until there is nothing more; `take` answers how many it took. */
export async function takeAll(take: (most: number) => Promise<number>): Promise<void> {
  while ((await take(BATCH)) === BATCH);
}
