import { setTimeout as delay } from 'node:timers/promises';
import { ANSWER_LENGTH, validationMessage } from '@troupe/contract';
import { answerable, AppError, createFairQueue, eachOf, newId, parseJson, type Log } from '@troupe/kernel';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Agent, LiveEvent, Room } from '../agent.ts';
import { asBytes } from './exchange.ts';
import { keyFor, owns, requireRight, type Right } from './rights.ts';
import { createPace, createPatience, SOCKET_BOUNDS, turnAway } from './socket-bounds.ts';
import type { GatewayPrincipal } from './types.ts';

/**
 * Web chat over a WebSocket. The client sends {type:'message', content, session?, id?}, {type:'watch', session, after?},
 * {type:'cancel', session} or {type:'approval', approvalId, approved, answer?}. It hears {type:'session'}, {type:'delta'},
 * {type:'event'}, {type:'answer'} and {type:'error'}; what belongs to a message carries its id.
 */

const incoming = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    content: z.string().trim().min(1, 'Message required').max(100_000),
    /** Names the conversation; without it the connection has one of its own. */
    session: z.string().min(1).max(200).optional(),
    id: z.string().max(200).optional(),
  }),
  z.object({ type: z.literal('watch'), session: z.string(), after: z.int().min(0).default(0) }),
  z.object({ type: z.literal('cancel'), session: z.string() }),
  z.object({
    type: z.literal('approval'),
    approvalId: z.string(),
    approved: z.boolean(),
    answer: z.string().max(ANSWER_LENGTH).optional(),
  }),
  z.object({ type: z.literal('ping') }),
]);
type Incoming = z.output<typeof incoming>;

export const FRAME_RIGHTS: Readonly<Record<Incoming['type'], Right>> = {
  message: 'talk',
  watch: 'talk',
  cancel: 'talk',
  ping: 'talk',
  approval: 'decide',
};

/** One connection. */
class WebChat {
  readonly #socket: WebSocket;
  readonly #wake: () => Promise<Agent>;
  readonly #principal: GatewayPrincipal;
  readonly #log: Log;
  readonly #ownKey = newId();
  readonly #gone = new AbortController();
  readonly #watches = new Map<string, AbortController>();
  readonly #isInTime = createPace();
  readonly #beginWrite: ReturnType<typeof createPatience>;
  readonly #isKept: () => boolean;
  /**
   * Its conversations have a page of what is stored one after the other, and when what was passed on before has gone out:
   * else each would hold one for who does not read.
   */
  readonly #pages = createFairQueue({ width: 1, waiting: Infinity, waitingPerKey: Infinity });
  readonly #room: Room = (signal) =>
    new Promise((resolve, reject) => {
      const turn = async (): Promise<void> => {
        await drained(this.#socket, signal);
        await new Promise<void>((leave) => resolve(leave));
      };
      this.#pages.run('', turn, signal).catch(reject);
    });
  #atWork = 0;

  constructor(socket: WebSocket, { wake, principal, log, bound }: ChatDeps) {
    this.#socket = socket;
    this.#wake = wake;
    this.#principal = principal;
    this.#log = log;
    this.#isKept = () => {
      if (socket.bufferedAmount > SOCKET_BOUNDS.waitingBytes) socket.terminate();
      else if (socket.bufferedAmount > 0) bound();
      return socket.readyState === socket.OPEN;
    };
    this.#beginWrite = createPatience(socket);
    socket.on('close', () => this.#gone.abort());
    socket.on('error', () => socket.terminate());
    for (const kind of ['ping', 'pong']) socket.on(kind, () => this.#isTooFast());
    socket.on('message', (data, isBinary) => {
      if (!this.#isTooFast()) this.#hear(isBinary ? '' : (data as Buffer).toString('utf8'));
    });
  }

  #hear(text: string): void {
    const parsed = parse(text);
    if (typeof parsed === 'string') return this.#send({ type: 'error', error: parsed });
    const about = 'id' in parsed && parsed.id ? { id: parsed.id } : {};
    const isWatch = parsed.type === 'watch';
    if (!isWatch && this.#atWork >= SOCKET_BOUNDS.atWork) {
      const error = `A connection has ${SOCKET_BOUNDS.atWork} messages under way at most`;
      return this.#send({ type: 'error', ...about, error });
    }
    if (!isWatch) this.#atWork += 1;
    this.#handle(parsed)
      .catch((error: unknown) => {
        const known = answerable(error);
        if (!known) this.#log.error({ err: error }, 'web chat failed');
        const told = known?.message ?? 'Internal server error';
        this.#send({ type: 'error', ...about, error: told });
      })
      .finally(() => {
        if (!isWatch) this.#atWork -= 1;
      });
  }

  #send(message: object): void {
    // Somebody who does not read is let go before they cost us our memory.
    if (this.#isKept()) this.#socket.send(asBytes(JSON.stringify(message)), { binary: false }, this.#beginWrite());
  }

  #passOn(live: LiveEvent, id?: string): void {
    const about = { session: live.sessionId, ...(id !== undefined && { id }) };
    if (live.kind === 'delta')
      this.#send({ type: 'delta', ...about, text: live.text, ...(live.fresh && { fresh: true }) });
    else this.#send({ type: 'event', ...about, event: live.event });
  }

  async #converse({ content, session = this.#ownKey, id }: Incoming & { type: 'message' }): Promise<void> {
    const input = {
      to: { channel: 'webchat', key: keyFor(this.#principal, session) },
      content,
      from: this.#principal.kind,
      ...(id && { inputId: id }),
    };
    const agent = await this.#wake();
    // Named before anything happens in it: a model that says nothing can be cancelled too.
    const opened = await agent.store.deliver({ to: input.to, events: [] });
    if (opened) this.#send({ type: 'session', session: opened.session.id, ...(id && { id }) });
    const answer = await agent.ask(input, (live) => this.#passOn(live, id));
    const { sessionId, outcome, reply, reason } = answer;
    this.#send({
      type: 'answer',
      session: sessionId,
      ...(id && { id }),
      outcome,
      content: reply,
      ...(reason && { reason }),
    });
  }

  async #ownSession(agent: Agent, id: string): Promise<void> {
    const session = await agent.store.session(id);
    if (!session || !owns(this.#principal, session)) throw new AppError(404, 'Session not found');
  }

  /** One after the other where the reader is slow. Who watches a conversation again begins anew. */
  async #follow(agent: Agent, session: string, after: number): Promise<void> {
    this.#watches.get(session)?.abort();
    if (!this.#watches.has(session) && this.#watches.size >= SOCKET_BOUNDS.watches)
      throw new AppError(429, `A connection follows ${SOCKET_BOUNDS.watches} conversations at most`);
    const own = new AbortController();
    this.#watches.set(session, own);
    try {
      await this.#ownSession(agent, session);
      const signal = AbortSignal.any([this.#gone.signal, own.signal]);
      await eachOf(agent.follow(session, after, signal, this.#room), async (live) => {
        await drained(this.#socket, signal);
        if (!signal.aborted) this.#passOn(live);
      });
    } finally {
      if (this.#watches.get(session) === own) this.#watches.delete(session);
    }
  }

  async #handle(message: Incoming): Promise<void> {
    requireRight(this.#principal, FRAME_RIGHTS[message.type]);
    if (message.type === 'ping') return this.#send({ type: 'pong' });
    if (message.type === 'message') return this.#converse(message);
    const agent = await this.#wake();
    switch (message.type) {
      case 'watch':
        return this.#follow(agent, message.session, message.after);
      case 'cancel':
        if (this.#principal.kind !== 'owner') await this.#ownSession(agent, message.session);
        await agent.cancel(message.session, this.#principal.kind);
        return;
      case 'approval':
        return agent.decide(message.approvalId, message.approved, this.#principal.kind, message.answer);
    }
  }

  #isTooFast(): boolean {
    if (this.#isInTime()) return false;
    turnAway(this.#socket, `More than ${SOCKET_BOUNDS.perSecond} frames a second`);
    return true;
  }
}

export interface ChatDeps {
  /** Asked for each message: a connection may stay open for days while the agent sleeps. */
  wake: () => Promise<Agent>;
  principal: GatewayPrincipal;
  log: Log;
  /** Lets go of some of its owner's connections where too much waits for all of them. */
  bound: () => void;
}

export function serveWebChat(socket: WebSocket, deps: ChatDeps): void {
  void new WebChat(socket, deps);
}

/** A message, or what is wrong with it. */
function parse(text: string): Incoming | string {
  try {
    const parsed = incoming.safeParse(parseJson(text));
    return parsed.success ? parsed.data : validationMessage(parsed.error, 'message');
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

const DRAIN_LOOK_MS = 50;

/** More is passed on when what was passed on before has gone out. */
async function drained(socket: WebSocket, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && socket.bufferedAmount > SOCKET_BOUNDS.followedBytes) await delay(DRAIN_LOOK_MS);
}
