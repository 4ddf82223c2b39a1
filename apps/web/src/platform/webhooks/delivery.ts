import { createHmac } from 'node:crypto';
import { webhookJob, webhooksWaiting } from '@troupe/contract';
import { lookWhenTold, type Database, type Jobs, type Listener } from '@troupe/db';
import { createCipher, iso, OutboundError, type Cipher, type Clock, type Log, type Outbound } from '@troupe/kernel';
import { findPending, forgetBefore, noteOutcome, takeNew, trimLog, type Pending } from './store.ts';

export interface DeliveryDeps {
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
const CONCURRENCY = 8;
/** One user's dead address holds at most so many places of all processes. */
const PER_OWNER = 2;
const KEPT_MS = 30 * 86_400_000;

export const SECRET_PREFIX = 'whsec_';
export const secretCipher = (walletKey: string): Cipher => createCipher(walletKey, 'webhooks');

/** As Standard Webhooks says; more than one signature while a secret is being replaced. */
function signatures(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}

/** Takes up what the database wrote down, and brings each message to its address. */
export function deliverWebhooks(deps: DeliveryDeps): { close: () => Promise<void> } {
  const { db, jobs, listener, clock, log } = deps;
  jobs.work(webhookJob, ({ id }, { tries }) => deliver(deps, id, tries), {
    concurrency: CONCURRENCY,
    perOwner: PER_OWNER,
  });

  async function takeUp(): Promise<void> {
    for (;;) {
      const taken = await db.asSystem(async (tx) => {
        const rows = await takeNew(tx, BATCH, clock());
        for (const { id, user_id: owner } of rows) await jobs.send(tx, webhookJob, { id }, { owner });
        return rows.length;
      });
      if (taken < BATCH) return;
    }
  }

  return lookWhenTold({
    listener,
    signal: webhooksWaiting,
    work: takeUp,
    tidy: () => forgetBefore(db.system, new Date(clock().getTime() - KEPT_MS)),
    failed: (error) => log.warn({ err: error }, 'webhooks could not be taken up'),
  });
}

/** Throws when it has to be tried again. */
async function deliver(deps: DeliveryDeps, id: string, tries: number): Promise<void> {
  const { db, clock } = deps;
  const pending = await findPending(db.system, id);
  if (pending === undefined) return;
  const { answered, problem } = pending.enabled
    ? await post(deps, pending)
    : { answered: null, problem: 'switched off' };
  const isLast = !pending.enabled || tries >= (webhookJob.retryLimit ?? 0);
  const status = problem === null ? 'delivered' : isLast ? 'failed' : 'pending';
  await noteOutcome(db.system, id, { status, answered, problem, attempts: pending.attempts + 1 }, clock());
  if (status === 'delivered') await trimLog(db.system, pending.endpoint_id);
  if (status === 'pending') throw new Error(`a webhook was not taken: ${problem}`);
}

async function post({ outbound, cipher, clock }: DeliveryDeps, pending: Pending) {
  const { id, type, data, at, url, endpoint_id: endpointId, old_secret: old, old_secret_until: until } = pending;
  const now = clock();
  const sealed = [pending.secret, ...(old !== null && until !== null && until > now ? [old] : [])];
  const secrets = sealed.map((one) => cipher.open(one, endpointId));
  const timestamp = Math.floor(now.getTime() / 1000);
  const body = JSON.stringify({ type, timestamp: iso(at), data });
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures(secrets, id, timestamp, body),
  };
  try {
    const answer = await outbound.fetch(url, {
      method: 'POST',
      headers,
      body,
      timeout: ANSWER_MS,
      maxBytes: MAX_BYTES,
      // An address that moved is the owner's to change: what is signed goes where it was meant to.
      redirects: 0,
    });
    answer.cancel();
    const isTaken = answer.status >= 200 && answer.status < 300;
    return { answered: answer.status, problem: isTaken ? null : `answered ${answer.status}` };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { answered: null, problem: error.message };
  }
}
