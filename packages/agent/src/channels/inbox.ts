import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@troupe/kernel';
import type { ChannelDeps, ChannelKind } from './channel.ts';

/**
 * What came in and was not answered yet. A message is written down before the service hears that we have it, and crossed
 * out after its answer was sent, so a crash in between costs nobody an answer. A message counts once. It belongs to the
 * process that took it for as long as that lives; what is left behind, or could not be sent, is taken up by any.
 */

interface Incoming {
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

type Send = (message: Incoming, text: string) => Promise<void>;

const waiting = (state: Record<string, unknown>): Waiting[] => (state['pending'] ?? []) as Waiting[];

class StoredInbox implements Inbox {
  readonly #kind: ChannelKind;
  readonly #agent: ChannelDeps['agent'];
  readonly #log: ChannelDeps['log'];
  readonly #allowedSenders: readonly string[];
  readonly #holdMs: number;
  readonly #send: Send;
  readonly #self = newId();
  readonly #running = new Map<string, Promise<void>>();
  #closed = false;
  readonly #timer: NodeJS.Timeout;

  constructor(kind: ChannelKind, { agent, log, allowedSenders = [], holdMs = HOLD_MS }: ChannelDeps, send: Send) {
    this.#kind = kind;
    this.#agent = agent;
    this.#log = log;
    this.#allowedSenders = allowedSenders;
    this.#holdMs = holdMs;
    this.#send = send;
    this.#timer = setInterval(() => {
      this.recover().catch((err: unknown) =>
        log.warn({ err, agentId: agent.id, channel: kind }, 'inbox not looked through'),
      );
    }, holdMs / 3).unref();
  }

  async take(message: Incoming): Promise<void> {
    if (message.text.trim() === '') return;
    if (this.#allowedSenders.length > 0 && !this.#allowedSenders.includes(message.sender)) {
      this.#log.info({ agentId: this.#agent.id, channel: this.#kind }, 'message of a stranger ignored');
      return;
    }
    let isKnown = false;
    await this.#change((pending) => {
      isKnown = pending.some(({ id }) => id === message.id);
      return isKnown ? pending : [...pending, this.#hold(message)];
    });
    if (!isKnown) this.#begin(message);
  }

  async remembered(name: string): Promise<unknown> {
    return (await this.#agent.store.channelState(this.#kind))[name];
  }

  remember(name: string, value: unknown): Promise<void> {
    return this.#agent.store.changeChannelState(this.#kind, (state) => ({ ...state, [name]: value }));
  }

  async settle(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    const patience = new AbortController();
    const { signal } = patience;
    await Promise.race([
      Promise.all(this.#running.values()),
      delay(SETTLE_MS, undefined, { signal, ref: false }).catch(() => undefined),
    ]);
    patience.abort();
    if (this.#running.size > 0)
      await this.#change((pending) => pending.map((one) => (one.by === this.#self ? { ...one, until: 0 } : one)));
  }

  /** Keeps what is ours and takes what is nobody's. */
  async recover(): Promise<void> {
    const isOurs = ({ id }: Waiting): boolean => this.#running.has(id);
    const isFree = (one: Waiting): boolean => !isOurs(one) && (one.until ?? 0) <= Date.now();
    if (!waiting(await this.#agent.store.channelState(this.#kind)).some((one) => isOurs(one) || isFree(one))) return;
    let taken: Waiting[] = [];
    await this.#change((pending) => {
      taken = pending.filter(isFree);
      return pending.map((one) => (isOurs(one) || taken.includes(one) ? this.#hold(one) : one));
    });
    for (const message of taken) this.#begin(message);
  }

  #change(edit: (pending: Waiting[]) => Waiting[]): Promise<void> {
    return this.#agent.store.changeChannelState(this.#kind, (state) => ({ ...state, pending: edit(waiting(state)) }));
  }

  #hold(message: Waiting): Waiting {
    return { ...message, by: this.#self, until: Date.now() + this.#holdMs };
  }

  async #answer(message: Waiting): Promise<void> {
    try {
      const { reply, outcome } = await this.#agent.ask({
        to: { channel: this.#kind, key: message.chat },
        inputId: message.id,
        content: message.text,
        from: `${this.#kind} ${message.sender}`,
      });
      const waits = outcome === 'waiting';
      if (!waits || !message.isTold) await this.#send(message, outcome === 'failed' ? FAILED : reply || '…');
      // The answer itself follows when somebody has decided.
      await this.#replace(message, waits ? { ...message, isTold: true, until: Date.now() + this.#holdMs } : undefined);
    } catch (err) {
      this.#log.error({ err, agentId: this.#agent.id, channel: this.#kind }, 'answer not delivered');
      if (!this.#closed) await this.#putOff(message);
    }
  }

  #replace(message: Waiting, by: Waiting | undefined): Promise<void> {
    return this.#change((pending) => pending.flatMap((one) => (one.id !== message.id ? [one] : by ? [by] : [])));
  }

  async #putOff(message: Waiting): Promise<void> {
    const tries = (message.tries ?? 0) + 1;
    const isOver = tries >= MAX_TRIES;
    await this.#replace(
      message,
      isOver ? undefined : { ...message, tries, until: Date.now() + this.#holdMs * 2 ** tries },
    );
    const told = isOver ? 'An answer could not be delivered.' : 'An answer could not be delivered yet.';
    await this.#agent.store.log({ level: 'error', message: told, source: this.#kind });
  }

  #begin(message: Waiting): void {
    const work = this.#answer(message)
      .catch((err: unknown) => this.#log.error({ err, channel: this.#kind }, 'channel failed'))
      .finally(() => this.#running.delete(message.id));
    this.#running.set(message.id, work);
  }
}

export const openInbox = (kind: ChannelKind, deps: ChannelDeps, send: Send): Inbox => new StoredInbox(kind, deps, send);
