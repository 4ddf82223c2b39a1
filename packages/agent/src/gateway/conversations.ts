import { setTimeout as delay } from 'node:timers/promises';
import { AppError, createFairQueue } from '@troupe/kernel';
import { z } from 'zod';
import { APPROVALS_SHOWN } from '../store/store.ts';
import { keyFor, owns, ownKeys } from './rights.ts';
import { openEventStream, readJson, sendJson, whole, type Exchange } from './exchange.ts';

/** Sessions and what happens in them, saying something, cancelling, approvals. */

const saidSchema = z.object(
  {
    content: z.string('Message required').trim().min(1, 'Message required').max(100_000),
    /** Names the conversation. */
    key: z.string('key required').trim().min(1, 'key required').max(200),
    /** The same message under the same id is taken once. */
    id: z.string().min(1).max(200).optional(),
  },
  'Invalid request body',
);

/** Takes a message and answers as soon as it is stored; who wants the answer follows the session. */
export async function say(exchange: Exchange): Promise<void> {
  const { agent, principal, deps } = exchange;
  const { content, key, id } = await readJson(exchange, saidSchema);
  const input = {
    to: { channel: 'api', key: keyFor(principal, key) },
    content,
    from: principal.kind,
    ...(id !== undefined && { inputId: id }),
  };
  const taken = Promise.withResolvers<{ sessionId: string; seq: number }>();
  // Whoever listens makes the model write word by word: the follower may come a moment later.
  agent
    .ask({ ...input, onTaken: taken.resolve }, () => undefined)
    .catch((error: unknown) => {
      if (!(error instanceof AppError)) deps.log.error({ err: error, agentId: agent.id }, 'an answer broke off');
      taken.reject(error);
    });
  sendJson(exchange, { success: true, ...(await taken.promise) }, 202);
}

export async function listSessions(exchange: Exchange): Promise<void> {
  const { query, agent, principal } = exchange;
  const keys = ownKeys(principal);
  const sessions = await agent.store.sessions({
    limit: whole(query, 'limit', 50, 100),
    offset: whole(query, 'offset', 0, 1e6),
    ...(keys !== undefined && { keys }),
    ...(query.has('key') && { key: keyFor(principal, query.get('key') ?? '') }),
  });
  sendJson(exchange, { sessions, count: sessions.length });
}

async function found({ agent, principal, params: [id = ''] }: Exchange) {
  const session = await agent.store.session(id);
  if (!session || !owns(principal, session)) throw new AppError(404, 'Session not found');
  return session;
}

/** Reading a page is work for everybody on the way: the pages of an agent come one after the other, at a bounded rate. */
const readers = createFairQueue({ width: 256, perKey: 1, waiting: 1_000, waitingPerKey: 30 });
const BYTES_A_PAGE = 512 * 1024;
const BYTES_A_SECOND = 2 * 1024 * 1024;

export async function readSessionEvents(exchange: Exchange): Promise<void> {
  const { agent, query, signal } = exchange;
  const session = await found(exchange);
  const bounds = {
    after: whole(query, 'after', 0, 2 ** 31),
    limit: whole(query, 'limit', 500, 1000),
    bytes: BYTES_A_PAGE,
  };
  const read = async (): Promise<void> => {
    const events = await agent.store.events(session.id, bounds);
    const hasMore = (events.at(-1)?.seq ?? session.lastSeq) < session.lastSeq;
    const bytes = sendJson(exchange, { session, events, hasMore });
    // This one is answered; only the next one waits.
    await delay((bytes / BYTES_A_SECOND) * 1000, undefined, { ref: false });
  };
  await readers.run(agent.id, read, signal);
}

/** From where the reader says it is (Last-Event-ID), without a gap, until it leaves or the agent is deleted. */
export async function streamSessionEvents(exchange: Exchange): Promise<void> {
  const { agent, request, query, signal } = exchange;
  const session = await found(exchange);
  const last = Number(request.headers['last-event-id'] ?? query.get('lastEventId') ?? 0);
  const stream = openEventStream(exchange);
  try {
    for await (const live of agent.follow(session.id, Number.isInteger(last) && last > 0 ? last : 0, signal)) {
      if (live.kind === 'delta')
        await stream.send({ event: 'delta', data: { text: live.text, ...(live.fresh && { fresh: true }) } });
      else await stream.send({ id: live.event.seq, event: live.event.type, data: live.event });
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    await stream.send({ event: 'error', data: { error: error.message } });
  }
  stream.end();
}

export async function cancelSession(exchange: Exchange): Promise<void> {
  const { agent, params, principal } = exchange;
  if (principal.kind !== 'owner') await found(exchange);
  const cancelled = await agent.cancel(params[0] ?? '', principal.kind);
  sendJson(exchange, { success: true, cancelled });
}

export async function listApprovals(exchange: Exchange): Promise<void> {
  const { query, agent } = exchange;
  const offset = whole(query, 'offset', 0, 1e6);
  const approvals = await agent.store.pendingApprovals({ limit: APPROVALS_SHOWN, offset });
  const rest = await agent.store.pendingApprovals({ limit: 1, offset: offset + approvals.length });
  sendJson(exchange, { approvals, count: approvals.length, hasMore: rest.length > 0 });
}

export async function decideApproval(exchange: Exchange): Promise<void> {
  const { approved } = await readJson(
    exchange,
    z.object({ approved: z.boolean('approved must be true or false') }, 'Invalid request body'),
  );
  await exchange.agent.decide(exchange.params[0] ?? '', approved, exchange.principal.kind);
  sendJson(exchange, { success: true });
}
