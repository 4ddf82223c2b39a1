import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@troupe/kernel';
import type { ChannelDeps, ChannelKind } from './channel.ts';

/**
 * What came in and was not answered yet. A message is written down before the service hears that we have it, and crossed
 * out after its answer was sent, so a crash in between costs nobody an answer. A message counts once. It belongs to the
 * process that took it for as long as that lives; what is left behind, or could not be sent, is taken up by any.
 */

export interface Incoming {
  /** The service's own id of the message. */
  id: string;
  /** The conversation, where the answer goes. */
  chat: string;
  sender: string;
  text: string;
  /** What sending an answer needs besides. */
  extra?: Record<string, string>;
}

export interface Inbox {
  /** Settles when the message is safely stored; the answer follows. */
  take: (message: Incoming) => Promise<void>;
  /** Answers what a restart left behind. */
  recover: () => Promise<void>;
  remembered: (name: string) => Promise<unknown>;
  remember: (name: string, value: unknown) => Promise<void>;
  /** Waits a moment for the answers under way; what takes longer is answered by whoever starts next. */
  settle: () => Promise<void>;
}

interface Waiting extends Incoming {
  by?: string;
  /** Nobody else touches it before. */
  until?: number;
  tries?: number;
  /** The sender knows that it waits for an approval. */
  isTold?: boolean;
}

const SETTLE_MS = 3000;
const HOLD_MS = 30_000;
/** Some four hours, each wait twice the last. */
const MAX_TRIES = 8;
const FAILED = 'Sorry, I cannot answer now. Please try again later.';

export function openInbox(
  kind: ChannelKind,
  { agent, log, allowedSenders = [], holdMs = HOLD_MS }: ChannelDeps,
  send: (message: Incoming, text: string) => Promise<void>,
): Inbox {
  const { store } = agent;
  const self = newId();
  const running = new Map<string, Promise<void>>();
  let closed = false;

  const waiting = (state: Record<string, unknown>): Waiting[] => (state['pending'] ?? []) as Waiting[];
  const change = (edit: (pending: Waiting[]) => Waiting[]): Promise<void> =>
    store.changeChannelState(kind, (state) => ({ ...state, pending: edit(waiting(state)) }));
  const hold = (message: Waiting): Waiting => ({ ...message, by: self, until: Date.now() + holdMs });

  async function answer(message: Waiting): Promise<void> {
    try {
      const { reply, outcome } = await agent.ask({
        to: { channel: kind, key: message.chat },
        inputId: message.id,
        content: message.text,
        from: `${kind} ${message.sender}`,
      });
      const waits = outcome === 'waiting';
      if (!waits || !message.isTold) await send(message, outcome === 'failed' ? FAILED : reply || '…');
      // The answer itself follows when somebody has decided.
      await replace(message, waits ? { ...message, isTold: true, until: Date.now() + holdMs } : undefined);
    } catch (err) {
      log.error({ err, agentId: agent.id, channel: kind }, 'answer not delivered');
      if (!closed) await putOff(message);
    }
  }

  const replace = (message: Waiting, by: Waiting | undefined): Promise<void> =>
    change((pending) => pending.flatMap((one) => (one.id !== message.id ? [one] : by ? [by] : [])));

  async function putOff(message: Waiting): Promise<void> {
    const tries = (message.tries ?? 0) + 1;
    const isOver = tries >= MAX_TRIES;
    await replace(message, isOver ? undefined : { ...message, tries, until: Date.now() + holdMs * 2 ** tries });
    const told = isOver ? 'An answer could not be delivered.' : 'An answer could not be delivered yet.';
    await store.log({ level: 'error', message: told, source: kind });
  }

  function begin(message: Waiting): void {
    const work = answer(message)
      .catch((err: unknown) => log.error({ err, channel: kind }, 'channel failed'))
      .finally(() => running.delete(message.id));
    running.set(message.id, work);
  }

  /** Keeps what is ours and takes what is nobody's. */
  async function recover(): Promise<void> {
    const isOurs = ({ id }: Waiting): boolean => running.has(id);
    const isFree = (one: Waiting): boolean => !isOurs(one) && (one.until ?? 0) <= Date.now();
    if (!waiting(await store.channelState(kind)).some((one) => isOurs(one) || isFree(one))) return;
    let taken: Waiting[] = [];
    await change((pending) => {
      taken = pending.filter(isFree);
      return pending.map((one) => (isOurs(one) || taken.includes(one) ? hold(one) : one));
    });
    taken.forEach(begin);
  }

  const timer = setInterval(() => {
    recover().catch((err: unknown) => log.warn({ err, agentId: agent.id, channel: kind }, 'inbox not looked through'));
  }, holdMs / 3).unref();

  return {
    async take(message) {
      if (message.text.trim() === '') return;
      if (allowedSenders.length > 0 && !allowedSenders.includes(message.sender)) {
        log.info({ agentId: agent.id, channel: kind }, 'message of a stranger ignored');
        return;
      }
      let isKnown = false;
      await change((pending) => {
        isKnown = pending.some(({ id }) => id === message.id);
        return isKnown ? pending : [...pending, hold(message)];
      });
      if (!isKnown) begin(message);
    },
    recover,
    remembered: async (name) => (await store.channelState(kind))[name],
    remember: (name, value) => store.changeChannelState(kind, (state) => ({ ...state, [name]: value })),
    async settle() {
      closed = true;
      clearInterval(timer);
      const patience = new AbortController();
      const { signal } = patience;
      await Promise.race([
        Promise.all(running.values()),
        delay(SETTLE_MS, undefined, { signal, ref: false }).catch(() => undefined),
      ]);
      patience.abort();
      if (running.size > 0)
        await change((pending) => pending.map((one) => (one.by === self ? { ...one, until: 0 } : one)));
    },
  };
}
