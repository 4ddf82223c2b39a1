import { setTimeout as delay } from 'node:timers/promises';
import { validationMessage } from '@troupe/contract';
import { AppError, newId, parseJson, type Log } from '@troupe/kernel';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Agent, LiveEvent } from '../agent.ts';
import { keyFor, owns, requireRight, type Right } from './rights.ts';
import { createPace, SOCKET_BOUNDS, turnAway } from './socket-bounds.ts';
import type { GatewayPrincipal } from './types.ts';

/**
 * Web chat over a WebSocket. The client sends {type:'message', content, session?, id?}, {type:'watch', session, after?},
 * {type:'cancel', session} or {type:'approval', approvalId, approved}. It hears {type:'session'}, {type:'delta'},
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
  z.object({ type: z.literal('approval'), approvalId: z.string(), approved: z.boolean() }),
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

/** `wake` is asked for each message: a connection may stay open for days while the agent sleeps. */
export function serveWebChat(
  socket: WebSocket,
  wake: () => Promise<Agent>,
  principal: GatewayPrincipal,
  log: Log,
): void {
  const ownKey = newId();
  const gone = new AbortController();
  const watches = new Map<string, AbortController>();
  const isInTime = createPace();
  let atWork = 0;
  socket.on('close', () => gone.abort());
  socket.on('error', () => socket.terminate());

  function send(message: object): void {
    // Somebody who does not read is let go before they cost us our memory.
    if (socket.bufferedAmount > SOCKET_BOUNDS.waitingBytes) return socket.terminate();
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
  }

  const passOn = (live: LiveEvent, id?: string): void => {
    const about = { session: live.sessionId, ...(id !== undefined && { id }) };
    if (live.kind === 'delta') send({ type: 'delta', ...about, text: live.text, ...(live.fresh && { fresh: true }) });
    else send({ type: 'event', ...about, event: live.event });
  };

  async function converse({ content, session = ownKey, id }: Incoming & { type: 'message' }): Promise<void> {
    const input = {
      to: { channel: 'webchat', key: keyFor(principal, session) },
      content,
      from: principal.kind,
      ...(id && { inputId: id }),
    };
    const agent = await wake();
    // Named before anything happens in it: a model that says nothing can be cancelled too.
    const opened = await agent.store.deliver({ to: input.to, events: [] });
    if (opened) send({ type: 'session', session: opened.session.id, ...(id && { id }) });
    const answer = await agent.ask(input, (live) => passOn(live, id));
    const { sessionId, outcome, reply, reason } = answer;
    send({ type: 'answer', session: sessionId, ...(id && { id }), outcome, content: reply, ...(reason && { reason }) });
  }

  async function ownSession(agent: Agent, id: string): Promise<void> {
    const session = await agent.store.session(id);
    if (!session || !owns(principal, session)) throw new AppError(404, 'Session not found');
  }

  /** One after the other where the reader is slow. Who watches a conversation again begins anew. */
  async function follow(agent: Agent, session: string, after: number): Promise<void> {
    watches.get(session)?.abort();
    if (!watches.has(session) && watches.size >= SOCKET_BOUNDS.watches)
      throw new AppError(429, `A connection follows ${SOCKET_BOUNDS.watches} conversations at most`);
    const own = new AbortController();
    watches.set(session, own);
    try {
      await ownSession(agent, session);
      const signal = AbortSignal.any([gone.signal, own.signal]);
      for await (const live of agent.follow(session, after, signal)) {
        passOn(live);
        await drained(socket, signal);
      }
    } finally {
      if (watches.get(session) === own) watches.delete(session);
    }
  }

  async function handle(message: Incoming): Promise<void> {
    requireRight(principal, FRAME_RIGHTS[message.type]);
    if (message.type === 'ping') return send({ type: 'pong' });
    if (message.type === 'message') return converse(message);
    const agent = await wake();
    switch (message.type) {
      case 'watch':
        return follow(agent, message.session, message.after);
      case 'cancel':
        if (principal.kind !== 'owner') await ownSession(agent, message.session);
        await agent.cancel(message.session, principal.kind);
        return;
      case 'approval':
        return agent.decide(message.approvalId, message.approved, principal.kind);
    }
  }

  const isTooFast = (): boolean => {
    if (isInTime()) return false;
    turnAway(socket, `More than ${SOCKET_BOUNDS.perSecond} frames a second`);
    return true;
  };
  socket.on('ping', isTooFast);
  socket.on('message', (data, isBinary) => {
    if (isTooFast()) return;
    const parsed = parse(isBinary ? '' : (data as Buffer).toString('utf8'));
    if (typeof parsed === 'string') return send({ type: 'error', error: parsed });
    const about = 'id' in parsed && parsed.id ? { id: parsed.id } : {};
    const isWatch = parsed.type === 'watch';
    if (!isWatch && atWork >= SOCKET_BOUNDS.atWork) {
      send({ type: 'error', ...about, error: `A connection has ${SOCKET_BOUNDS.atWork} messages under way at most` });
      return;
    }
    if (!isWatch) atWork += 1;
    handle(parsed)
      .catch((error: unknown) => {
        if (!(error instanceof AppError)) log.error({ err: error }, 'web chat failed');
        send({ type: 'error', ...about, error: error instanceof AppError ? error.message : 'Internal server error' });
      })
      .finally(() => {
        if (!isWatch) atWork -= 1;
      });
  });
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

/** Half of what may wait is there: what is stored is read on when that has gone out. */
async function drained(socket: WebSocket, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && socket.bufferedAmount > SOCKET_BOUNDS.waitingBytes / 2) await delay(DRAIN_LOOK_MS);
}
