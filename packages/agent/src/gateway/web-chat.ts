import { validationMessage } from '@troupe/contract';
import { AppError, newId, type Log } from '@troupe/kernel';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Agent, LiveEvent } from '../agent.ts';
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

const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/** `wake` is asked for each message: a connection may stay open for days while the agent sleeps. */
export function serveWebChat(
  socket: WebSocket,
  wake: () => Promise<Agent>,
  principal: GatewayPrincipal,
  log: Log,
): void {
  const ownKey = newId();
  const gone = new AbortController();
  socket.on('close', () => gone.abort());
  socket.on('error', () => socket.terminate());

  function send(message: object): void {
    // Somebody who does not read is let go before they cost us our memory.
    if (socket.bufferedAmount > MAX_WAITING_BYTES) return socket.terminate();
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
  }

  const passOn = (live: LiveEvent, id?: string): void => {
    const about = { session: live.sessionId, ...(id !== undefined && { id }) };
    if (live.kind === 'delta') send({ type: 'delta', ...about, text: live.text });
    else send({ type: 'event', ...about, event: live.event });
  };

  async function converse({ content, session = ownKey, id }: Incoming & { type: 'message' }): Promise<void> {
    const input = {
      to: { channel: 'webchat', key: session },
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

  async function handle(message: Incoming): Promise<void> {
    if (message.type === 'ping') return send({ type: 'pong' });
    if (message.type === 'message') return converse(message);
    const agent = await wake();
    switch (message.type) {
      case 'watch':
        if (!(await agent.store.session(message.session))) throw new AppError(404, 'Session not found');
        for await (const live of agent.follow(message.session, message.after, gone.signal)) passOn(live);
        return;
      case 'cancel':
        await agent.cancel(message.session, principal.kind);
        return;
      case 'approval':
        return agent.decide(message.approvalId, message.approved, principal.kind);
    }
  }

  socket.on('message', (data, isBinary) => {
    const parsed = isBinary ? undefined : parse((data as Buffer).toString('utf8'));
    if (!parsed?.success) {
      send({ type: 'error', error: parsed ? validationMessage(parsed.error, 'message') : 'Invalid JSON' });
      return;
    }
    handle(parsed.data).catch((error: unknown) => {
      if (!(error instanceof AppError)) log.error({ err: error }, 'web chat failed');
      const about = 'id' in parsed.data && parsed.data.id ? { id: parsed.data.id } : {};
      send({ type: 'error', ...about, error: error instanceof AppError ? error.message : 'Internal server error' });
    });
  });
}

function parse(text: string) {
  try {
    return incoming.safeParse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
