import { raiseNotice } from '@troupe/accounts';
import { BUS_VERSION, busDeliveryJob, type BusMessage } from '@troupe/contract';
import type { Database, Jobs, SystemTx } from '@troupe/db';
import { OutboundError, type Clock, type Outbound } from '@troupe/kernel';
import * as store from './store.ts';

/** Takes a message to the agent's runtime on the platform; a repeat must change nothing there. */
export type Deliver = (
  agent: { id: string; userId: string },
  message: BusMessage,
  signal: AbortSignal,
) => Promise<void>;

export interface DeliveryDeps {
  db: Database;
  jobs: Jobs;
  clock: Clock;
  /** Reaches public addresses only. */
  outbound: Pick<Outbound, 'fetch'>;
  deliver: Deliver;
  /** Tries after the first one. */
  retries?: number;
}

/** A webhook only takes a message; whoever needs longer answers first and works later. */
const WEBHOOK_MS = 5_000;
const RUNTIME_MS = 15_000;

/** Trying again cannot help. */
class Undeliverable extends Error {
  override readonly name = 'Undeliverable';
}

export interface Delivery {
  /** Within the transaction that stores the message. */
  queue: (tx: SystemTx, id: string, recipient: string) => Promise<void>;
}

/** To a webhook, or to the agent’s runtime here. */
function createBringing({ outbound, deliver }: DeliveryDeps) {
  async function post(url: string, message: BusMessage, signal: AbortSignal): Promise<void> {
    if (!url.startsWith('https://')) throw new Undeliverable('Webhook must be an https address');
    const response = await outbound.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-agent-protocol-version': BUS_VERSION },
      body: JSON.stringify(message),
      timeout: WEBHOOK_MS,
      redirects: 0,
      signal,
    });
    response.cancel();
    if (response.status < 200 || response.status >= 300) throw new Error(`Webhook answered ${response.status}`);
  }

  async function bring(row: store.QueuedMessage, signal: AbortSignal): Promise<void> {
    if (row.to_user_id === null) throw new Undeliverable('Recipient is gone');
    const signed = JSON.parse(row.message) as BusMessage;
    const message = { ...signed, metadata: { ...signed.metadata, ...(row.added as object) } };
    if (typeof row.webhook === 'string' && row.webhook !== '') return post(row.webhook, message, signal);
    return deliver(
      { id: row.to_agent_id, userId: row.to_user_id },
      message,
      AbortSignal.any([signal, AbortSignal.timeout(RUNTIME_MS)]),
    );
  }

  return bring;
}

/** Brings messages to their recipients: tries again for some minutes, keeps what happened, tells the sender of a failure. */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const { db, jobs, clock, retries = 8 } = deps;
  const bring = createBringing(deps);

  const isFinal = (error: unknown): boolean =>
    error instanceof Undeliverable ||
    (error instanceof OutboundError && (error.kind === 'blocked' || error.kind === 'bad_url'));

  const giveUp = (row: store.QueuedMessage, why: string): Promise<void> =>
    db.asSystem(async (tx) => {
      if (!(await store.markFailed(tx, row.id, why)) || row.from_user_id === null) return;
      await raiseNotice(
        tx,
        {
          userId: row.from_user_id,
          kind: 'message_failed',
          subject: row.to_agent_id,
          message: `A message from ${row.from_agent_id} to ${row.to_agent_id} could not be delivered: ${why}`,
          link: '/dashboard/underground',
        },
        clock(),
      );
    });

  jobs.work(
    busDeliveryJob,
    async ({ id }, { signal }) => {
      const row = await store.takeAttempt(db.system, id);
      if (!row) return;
      // Whoever made the last try has died at it.
      if (row.attempts > retries + 1) return giveUp(row, row.last_error ?? 'Delivery was interrupted');
      try {
        await bring(row, signal);
      } catch (error) {
        const why = error instanceof Error ? error.message.slice(0, 500) : 'Delivery failed';
        if (isFinal(error) || row.attempts > retries) return giveUp(row, why);
        await store.noteError(db.system, id, why);
        throw error;
      }
      await store.markDelivered(db.system, id, clock());
    },
    {
      // Those who do not answer are their owner's: they take two places of six, and the others go on.
      concurrency: 6,
      perOwner: 2,
    },
  );

  return {
    async queue(tx, id, recipient) {
      await jobs.send(tx, busDeliveryJob, { id }, { owner: recipient });
    },
  };
}
