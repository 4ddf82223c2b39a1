import { setTimeout as delay } from 'node:timers/promises';
import {
  plainName,
  type Answer,
  type ChannelMessage,
  type Lease,
  type MessageNote,
  type WaitingMessage,
} from '@troupe/agent';
import { FILE_BYTES } from '@troupe/contract';
import { AppError, newId, sha256Hex } from '@troupe/kernel';
import { pieces, type ChannelDeps, type Part, type Post, type Service } from './channel.ts';
import { inWords, TryLater, Undeliverable } from './errors.ts';
import { attachedTo, bringFiles, linkedFiles } from './files.ts';
import { namedIn, sendersIn } from './senders.ts';

/**
 * What came in, one for all services. A message is written down before the service hears that we have it, and is a
 * receipt after its answer was sent, so a crash in between costs nobody an answer. It counts once, by the service's own
 * id, in whichever process it comes. Words that answer two messages are sent once.
 */

export interface Inbox extends Post {
  /** Keeps what is ours, and takes what is due and nobody's. */
  recover: () => Promise<void>;
  /** Waits a moment for the answers under way; what takes longer is answered by whoever starts next. */
  settle: () => Promise<void>;
}

const SETTLE_MS = 3000;
const HOLD_MS = 30_000;
/** Some four hours, each wait twice the last. */
const MAX_TRIES = 8;
const MOST_AT_ONCE = 20;
const MOST_TEXT = 100_000;
const MOST_ID = 300;
const FAILED = 'Sorry, I cannot answer now. Please try again later.';

const clean = (text: string, most = MOST_ID): string => text.replaceAll('\0', '').slice(0, most);
/** Ids stay different when they are cut. */
const cleanId = (id: string): string => (id.length > MOST_ID ? sha256Hex(id) : clean(id));

const cleaned = (message: ChannelMessage): ChannelMessage => ({
  ...message,
  id: cleanId(message.id),
  chat: cleanId(message.chat),
  sender: clean(message.sender),
  text: clean(message.text, MOST_TEXT) + (message.text.length > MOST_TEXT ? '\n[the rest was cut off]' : ''),
});

const NOT_NAMED =
  'A task tells only those who are named one by one under “Who may write”, and whoever wrote last is not';

class StoredInbox implements Inbox {
  readonly #service: Service;
  readonly #agent: ChannelDeps['agent'];
  readonly #log: ChannelDeps['log'];
  readonly #allowedSenders: readonly string[];
  /** Those whom the owner named one by one. */
  readonly #named: ReadonlySet<string>;
  readonly #lease: Lease;
  readonly #running = new Map<string, Promise<void>>();
  /** For each chat, until the newest input of it is stored: messages reach the agent in their order. */
  readonly #inOrder = new Map<string, Promise<void>>();
  #closed = false;
  #looking: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(service: Service, { agent, settings, log, allowedSenders = [], holdMs = HOLD_MS }: ChannelDeps) {
    this.#service = service;
    this.#agent = agent;
    this.#log = log;
    this.#allowedSenders = allowedSenders;
    this.#named = namedIn([...allowedSenders, ...sendersIn(settings)]);
    this.#lease = { owner: newId(), ttlMs: holdMs };
    this.#timer = setInterval(() => this.#lookAgain(), holdMs / 3).unref();
  }

  get #kind() {
    return this.#service.kind;
  }

  get #store() {
    return this.#agent.store;
  }

  async take(given: ChannelMessage): Promise<void> {
    const message = cleaned(given);
    const { files = [], paths = [] } = message;
    if (message.text.trim() === '' && files.length + paths.length === 0) return;
    const isStranger = this.#allowedSenders.length > 0 && !this.#allowedSenders.includes(message.sender);
    if (isStranger) return this.ignore(message, 'Not among those who may write');
    const taken = await this.#store.takeMessage(this.#kind, message);
    if (taken === 'full') throw new AppError(503, 'Too many messages wait for their answers');
    if (taken === 'taken') this.#lookAgain();
  }

  async ignore(message: ChannelMessage, why: string): Promise<void> {
    await this.#store.takeMessage(this.#kind, cleaned(message), why);
  }

  async bring(name: string, bytes: Buffer): Promise<string> {
    const source = (async function* () {
      yield bytes;
    })();
    const workspace = await this.#agent.workspace();
    return (await workspace.put(`uploads/${plainName(name)}`, source, { maxBytes: FILE_BYTES })).path;
  }

  count(sender: string, since: Date): Promise<number> {
    return this.#store.countMessages(this.#kind, clean(sender), since);
  }

  async remembered(name: string): Promise<unknown> {
    return (await this.#store.channelState(this.#kind))[name];
  }

  remember(name: string, value: unknown): Promise<void> {
    return this.#store.changeChannelState(this.#kind, (state) => ({ ...state, [name]: value }));
  }

  async settle(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#looking;
    const patience = new AbortController();
    const { signal } = patience;
    await Promise.race([
      Promise.all(this.#running.values()),
      delay(SETTLE_MS, undefined, { signal, ref: false }).catch(() => undefined),
    ]);
    patience.abort();
    await this.#store.holdMessages(this.#kind, [...this.#running.keys()], { ...this.#lease, ttlMs: 0 });
  }

  /** One look after another; what fails is looked for again at the next. */
  #lookAgain(): void {
    if (this.#closed) return;
    this.#looking = this.#looking
      .then(() => this.recover())
      .catch((err: unknown) =>
        this.#log.warn({ err, agentId: this.#agent.id, channel: this.#kind }, 'inbox not looked through'),
      );
  }

  async recover(): Promise<void> {
    await this.#adopt();
    await this.#store.holdMessages(this.#kind, [...this.#running.keys()], this.#lease);
    const room = MOST_AT_ONCE - this.#running.size;
    if (room <= 0 || this.#closed) return;
    for (const message of await this.#store.claimMessages(this.#kind, this.#lease, room))
      if (!this.#running.has(message.id)) this.#begin(message);
  }

  /** What a release wrote down that had no table for it; a process of it may still work on some. */
  async #adopt(): Promise<void> {
    const isFree = ({ until = 0 }: { until?: number }): boolean => until <= Date.now();
    const listed = (state: Record<string, unknown>) =>
      (state['pending'] ?? []) as (ChannelMessage & { until?: number })[];
    const free = listed(await this.#store.channelState(this.#kind)).filter(isFree);
    if (free.length === 0) return;
    for (const { id, chat, sender, text, extra } of free)
      await this.#store.takeMessage(this.#kind, { id, chat, sender, text, ...(extra && { extra }) });
    const taken = new Set(free.map(({ id }) => id));
    await this.#store.changeChannelState(this.#kind, (state) => ({
      ...state,
      pending: listed(state).filter(({ id }) => !taken.has(id)),
    }));
  }

  #note(message: WaitingMessage, note: MessageNote): Promise<boolean> {
    return this.#store.noteMessage(this.#kind, message.id, this.#lease.owner, note);
  }

  async #withFiles(message: WaitingMessage): Promise<WaitingMessage> {
    if (message.paths !== undefined || (message.files ?? []).length === 0) return message;
    const { paths, notes } = await bringFiles(() => this.#agent.workspace(), this.#service.fetchFile, message);
    const text = [message.text, ...notes].filter(Boolean).join('\n\n');
    await this.#note(message, { kind: 'paths', paths, text });
    return { ...message, paths, text };
  }

  #isNamed({ sender }: ChannelMessage): boolean {
    return this.#named.has(sender.toLowerCase());
  }

  /** The input is stored after those that came before it in its chat. */
  async #ask(message: WaitingMessage): Promise<Answer> {
    const before = this.#inOrder.get(message.chat);
    const stored = Promise.withResolvers<void>();
    this.#inOrder.set(message.chat, stored.promise);
    try {
      await before;
      const ready = await this.#withFiles(message);
      return await this.#agent.ask({
        to: { channel: this.#kind, key: message.chat },
        inputId: message.id,
        content: ready.text,
        from: `${this.#kind} ${message.sender}`,
        isNamed: this.#isNamed(message),
        attachments: await attachedTo(() => this.#agent.workspace(), ready.paths),
        onTaken: () => stored.resolve(),
      });
    } finally {
      stored.resolve();
      if (this.#inOrder.get(message.chat) === stored.promise) this.#inOrder.delete(message.chat);
    }
  }

  async #parts(reply: string): Promise<Part[]> {
    const files = await linkedFiles(() => this.#agent.workspace(), reply);
    if (this.#service.isWhole) return [{ index: 0, text: reply || '…', files }];
    const texts = pieces(reply, this.#service.maxText).map((text) => ({ text, files: [] }));
    const parts = [
      ...(texts.length > 0 ? texts : [{ text: '…', files: [] }]),
      ...files.map((file) => ({ text: '', files: [file] })),
    ];
    return parts.map((part, index) => ({ index, ...part }));
  }

  /** The agent's answer, or what it has said already. */
  async #words(message: WaitingMessage): Promise<Pick<Answer, 'reply' | 'outcome' | 'seq' | 'sessionId'>> {
    if (message.words === undefined) return this.#ask(message);
    // Whoever wrote last may be anybody where anybody may write, and what a task found is its owner's.
    if (!this.#isNamed(message)) throw new Undeliverable(NOT_NAMED);
    return { reply: message.words, outcome: 'done', sessionId: '' };
  }

  async #answer(message: WaitingMessage): Promise<void> {
    const { reply, outcome, seq, sessionId } = await this.#words(message);
    if (outcome === 'waiting') {
      if (!message.isTold) await this.#service.send(message, { index: 0, text: reply, files: [] });
      // The answer itself follows when somebody has decided.
      await this.#note(message, { kind: 'later', afterMs: this.#lease.ttlMs, isTold: true });
      return;
    }
    const isOurs = seq === undefined || (await this.#note(message, { kind: 'answer', answer: `${sessionId}:${seq}` }));
    if (!isOurs) {
      await this.#note(message, { kind: 'done', state: 'answered', note: 'Answered together with another message' });
      return;
    }
    const parts = await this.#parts(outcome === 'failed' ? FAILED : reply);
    for (const part of parts.slice(message.sent)) {
      await this.#service.send(message, part);
      await this.#note(message, { kind: 'sent', sent: part.index + 1 });
    }
    await this.#note(message, { kind: 'done', state: 'answered' });
  }

  async #failed(message: WaitingMessage, err: unknown): Promise<void> {
    this.#log.error({ err, agentId: this.#agent.id, channel: this.#kind }, 'answer not delivered');
    if (this.#closed) return;
    const note = inWords(err);
    const isHopeless =
      err instanceof Undeliverable || (err instanceof AppError && err.status < 500 && err.status !== 429);
    const isOver = isHopeless || message.tries + 1 >= MAX_TRIES;
    const backOff = this.#lease.ttlMs * 2 ** (message.tries + 1);
    await this.#note(
      message,
      isOver
        ? { kind: 'done', state: 'failed', note }
        : { kind: 'later', afterMs: err instanceof TryLater ? err.afterMs : backOff, failed: true, note },
    );
    const told = isOver ? 'An answer could not be delivered' : 'An answer could not be delivered yet';
    await this.#store.log({ level: 'error', message: `${told}: ${note}`, source: this.#kind });
  }

  #begin(message: WaitingMessage): void {
    const work = this.#answer(message)
      .catch((err: unknown) => this.#failed(message, err))
      .catch((err: unknown) => this.#log.error({ err, channel: this.#kind }, 'channel failed'))
      .finally(() => {
        this.#running.delete(message.id);
        this.#lookAgain();
      });
    this.#running.set(message.id, work);
  }
}

export const openInbox = (service: Service, deps: ChannelDeps): Inbox => new StoredInbox(service, deps);
