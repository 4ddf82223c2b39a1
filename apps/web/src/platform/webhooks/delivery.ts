import { createHmac } from 'node:crypto';
import { webhookJob, webhooksWaiting } from '@troupe/contract';
import { lookWhenTold } from '@troupe/db';
import { bring, createCipher, iso, OutboundError, type Cipher } from '@troupe/kernel';
import { PLACES, takeAll, type BringingDeps } from '../bringing.ts';
import { findPending, forgetBefore, noteOutcome, takeNew, trimLog, type Pending } from './store.ts';

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
export function deliverWebhooks(deps: BringingDeps): { close: () => Promise<void> } {
  const { db, jobs, listener, clock, log } = deps;
  jobs.work(webhookJob, ({ id }, { tries }) => deliver(deps, id, tries), PLACES);

  const takeUp = (most: number): Promise<number> =>
    db.asSystem(async (tx) => {
      const rows = await takeNew(tx, most, clock());
      for (const { id, user_id: owner } of rows) await jobs.send(tx, webhookJob, { id }, { owner });
      return rows.length;
    });

  return lookWhenTold({
    listener,
    signal: webhooksWaiting,
    work: () => takeAll(takeUp),
    tidy: () => forgetBefore(db.system, new Date(clock().getTime() - KEPT_MS)),
    failed: (error) => log.warn({ err: error }, 'webhooks could not be taken up'),
  });
}

/** Throws when it has to be tried again. */
async function deliver(deps: BringingDeps, id: string, tries: number): Promise<void> {
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

async function post({ outbound, cipher, clock }: BringingDeps, pending: Pending) {
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
    const answered = await bring(outbound, url, { headers, body });
    const isTaken = answered >= 200 && answered < 300;
    return { answered, problem: isTaken ? null : `answered ${answered}` };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { answered: null, problem: error.message };
  }
}
