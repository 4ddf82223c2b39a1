import { pushesWaiting, pushJob } from '@troupe/contract';
import { lookWhenTold } from '@troupe/db';
import { bring, OutboundError, sha256Hex } from '@troupe/kernel';
import { PLACES, takeAll, type BringingDeps } from '../bringing.ts';
import { createKeys } from './keys.ts';
import { MOST_BYTES, sealFor, vapidHeader } from './seal.ts';
import { dropSubscription, findSend, forgetBefore, noteFailure, noteTold, takeNew, type Send } from './store.ts';
import { wordsOf } from './words.ts';

export interface PushDeliveryDeps extends BringingDeps {
  /** How a push service reaches the operator: an https or mailto address. */
  subject: string;
}

const KEPT_MS = 86_400_000;
/** How long a push service keeps it for a browser that is away. */
const TTL_SECONDS = 86_400;
/** A browser whose push service refuses so often in a row is none any more. */
const MOST_FAILURES = 20;
const GONE = new Set([404, 410]);
/** Addresses inside the own network are no push services; they stay what they are. */
const NEVER = new Set(['blocked', 'bad_url', 'redirects']);
/** What may be otherwise in a while. */
const isPassing = (status: number): boolean => status === 429 || status >= 500;

/** Takes up what the database wrote down, and brings each message to each browser of its owner. */
export function deliverPushes(deps: PushDeliveryDeps): { look: () => void; close: () => Promise<void> } {
  const { db, jobs, listener, clock, log } = deps;
  const keys = createKeys(deps);
  jobs.work(pushJob, ({ id, subscriptionId }) => deliver({ ...deps, keys }, id, subscriptionId), PLACES);

  const takeUp = (most: number): Promise<number> =>
    db.asSystem(async (tx) => {
      const { count, sends } = await takeNew(tx, most, clock());
      for (const { owner, ...data } of sends) await jobs.send(tx, pushJob, data, { owner });
      return count;
    });

  return lookWhenTold({
    listener,
    signal: pushesWaiting,
    work: () => takeAll(takeUp),
    tidy: () => forgetBefore(db.system, new Date(clock().getTime() - KEPT_MS)),
    failed: (error) => log.warn({ err: error }, 'push messages could not be taken up'),
  });
}

type Sending = PushDeliveryDeps & { keys: ReturnType<typeof createKeys> };

/** Throws when it has to be tried again. */
async function deliver(deps: Sending, id: string, subscriptionId: string): Promise<void> {
  const { db, clock, log } = deps;
  const send = await findSend(db.system, id, subscriptionId);
  if (send === undefined) return;
  const status = await post(deps, send);
  if (status === undefined) return;
  if (status >= 200 && status < 300) {
    await noteTold(db.system, send.browser_id, clock());
    return;
  }
  if (isPassing(status)) throw new Error(`a push message was not taken: ${status}`);
  if (GONE.has(status) || send.failures + 1 >= MOST_FAILURES) {
    await dropSubscription(db.system, send.browser_id);
    log.info({ userId: send.user_id, status }, 'a browser is gone, and told nothing any more');
    return;
  }
  await noteFailure(db.system, send.browser_id);
  log.warn({ userId: send.user_id, status }, 'a push message was refused');
}

/** The status of the answer; undefined: there is nothing to say, or nobody to say it to. */
async function post({ db, outbound, clock, subject, keys, log }: Sending, send: Send): Promise<number | undefined> {
  const { endpoint, p256dh, auth } = send;
  const said = await wordsOf(db.system, send);
  if (said === undefined) return undefined;
  const text = JSON.stringify(said);
  if (Buffer.byteLength(text) > MOST_BYTES) throw new Error('a push message is too long');
  const headers = {
    authorization: vapidHeader(await keys(), { endpoint, subject, now: clock() }),
    'content-type': 'application/octet-stream',
    'content-encoding': 'aes128gcm',
    ttl: String(TTL_SECONDS),
    urgency: 'high',
    // What waits at the push service for a browser that is away is replaced by the next of the same.
    topic: sha256Hex(said.tag).slice(0, 32),
  };
  try {
    return await bring(outbound, endpoint, { headers, body: sealFor({ p256dh, auth }, text) });
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    log.debug({ err: error }, 'a push service could not be reached');
    return NEVER.has(error.kind) ? 400 : 503;
  }
}
