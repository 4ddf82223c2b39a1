import { a2aNotification, createPgStore } from '@troupe/agent';
import { a2aPushJob, a2aPushWaiting } from '@troupe/contract';
import { lookWhenTold, type Database, type Jobs, type Listener } from '@troupe/db';
import { bring, OutboundError, type Cipher, type Clock, type Log, type Outbound } from '@troupe/kernel';
import { openSecrets } from './service.ts';
import * as store from './store.ts';

/** Tells those who wait for tasks of A2A how they stand: at their end, and where they need somebody. */

interface Deps {
  db: Database;
  jobs: Jobs;
  listener: Listener;
  clock: Clock;
  log: Log;
  outbound: Outbound;
  cipher: Cipher;
}

const BATCH = 100;
const CONCURRENCY = 8;
/** One user's dead address holds at most so many places of all processes. */
const PER_OWNER = 2;
/** So long after its end a task's configs can still be read. */
const KEPT_MS = 86_400_000;

export function deliverPushes(deps: Deps): { close: () => Promise<void> } {
  const { db, jobs, listener, clock, log } = deps;
  jobs.work(a2aPushJob, ({ id }, { tries }) => deliver(deps, id, tries), {
    concurrency: CONCURRENCY,
    perOwner: PER_OWNER,
  });

  async function takeUp(): Promise<void> {
    for (;;) {
      const taken = await db.asSystem(async (tx) => {
        const rows = await store.takeNew(tx, BATCH, clock());
        for (const { id, user_id: owner } of rows) await jobs.send(tx, a2aPushJob, { id }, { owner });
        return rows.length;
      });
      if (taken < BATCH) return;
    }
  }

  return lookWhenTold({
    listener,
    signal: a2aPushWaiting,
    work: takeUp,
    tidy: () => store.forgetBefore(db, new Date(clock().getTime() - KEPT_MS)),
    failed: (error) => log.warn({ err: error }, 'push notifications could not be taken up'),
  });
}

/** Throws when it has to be tried again. */
async function deliver(deps: Deps, id: string, tries: number): Promise<void> {
  const { db, clock } = deps;
  const due = await store.findDelivery(db, id);
  if (due === undefined) return;
  const place = { sessionId: due.session_id, seq: due.seq };
  const log = createPgStore({ db, userId: due.user_id, agentId: due.agent_id });
  const news = await a2aNotification(log, place, due.version as store.ConfigRow['version']);
  const problem = news ? await post(deps, due, news.body) : undefined;
  const isLast = tries >= (a2aPushJob.retryLimit ?? 0);
  if (problem !== undefined && !isLast) throw new Error(`a push notification was not taken: ${problem}`);
  await store.settle(db, id, due, news?.isOver ? clock() : null);
}

/** Says why it was not taken. */
async function post({ outbound, cipher }: Deps, due: store.Due, body: object): Promise<string | undefined> {
  const place = { sessionId: due.session_id, seq: due.seq };
  const { token, authentication } = openSecrets(cipher, place, due.id, due.sealed);
  const headers = {
    'content-type': due.version === '1.0' ? 'application/a2a+json' : 'application/json',
    ...(authentication?.credentials && {
      authorization: `${authentication.scheme} ${authentication.credentials}`,
    }),
    ...(token !== undefined && { 'x-a2a-notification-token': token }),
  };
  try {
    const status = await bring(outbound, due.url, { headers, body: JSON.stringify(body) });
    return status >= 200 && status < 300 ? undefined : `answered ${status}`;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return error.message;
  }
}
