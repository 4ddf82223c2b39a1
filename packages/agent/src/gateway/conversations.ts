import { AppError, eachOf, newId } from '@troupe/kernel';
import { z } from 'zod';
import { ANSWER_LENGTH, ANSWER_TOO_LONG, MOST_ATTACHMENTS } from '@troupe/contract';
import type { Agent, Kept } from '../agent.ts';
import type { Attachment, Wishes } from '../session/events.ts';
import { attachmentsOf } from '../workspace/attachments.ts';
import { lists, pages, readInTurn } from '../session/reading.ts';
import { branchOff } from '../loop/branching.ts';
import { APPROVALS_SHOWN, type SessionRef } from '../store/store.ts';
import { fileError } from './files.ts';
import { keyFor, owns, ownKeys, requireRight } from './rights.ts';
import { openEventStream, readJson, sendJson, whole, type EventStream, type Exchange } from './exchange.ts';

/** Sessions and what happens in them, saying something, cancelling, approvals. */

const callersTool = z.object({
  name: z.string().regex(/^[\w.:-]{1,128}$/, 'a tool must have a name of letters, digits, dots, colons and dashes'),
  description: z.string().default(''),
  parameters: z.record(z.string(), z.unknown()),
});
const callsResult = z.object({ callId: z.string().min(1).max(200), content: z.string().max(200_000) });
/** Somebody whom the owner lets in, as the platform says; tokens of an answer. */
const guestSchema = z.object({ abilities: z.enum(['answers', 'all']), maxTokens: z.int().min(1).max(8192) });

const saidSchema = z
  .object(
    {
      content: z.string('Message required').trim().max(100_000),
      /** Names the conversation; or `session`, its id. */
      key: z.string('key required').trim().min(1, 'key required').max(200).optional(),
      session: z.string().min(1).max(200).optional(),
      /** The same message under the same id is taken once. */
      id: z.string().min(1).max(200).optional(),
      /** Paths of files in the workspace. */
      attachments: z.array(z.string().min(1).max(1000)).max(MOST_ATTACHMENTS).default([]),
      model: z.string().min(1).max(200).optional(),
      /** Tools of the caller's own, which are called back. */
      tools: z.array(callersTool).max(512).default([]),
      /** Of calls that the run waits for. */
      results: z.array(callsResult).max(512).default([]),
      guest: guestSchema.optional(),
      /** Memory stores of a session of its owner's, and what is said of them. */
      stores: z.object({ session: z.string().min(1).max(200), says: z.string().max(70_000) }).optional(),
    },
    'Invalid request body',
  )
  .refine(
    ({ content, attachments, results }) => content !== '' || attachments.length > 0 || results.length > 0,
    'Message required',
  )
  .refine(({ key, session }) => key !== undefined || session !== undefined, 'key required');

/** What the files are, and what can be read of them. */
async function attached({ agent, principal }: Exchange, paths: readonly string[]): Promise<Attachment[]> {
  if (paths.length === 0) return [];
  requireRight(principal, 'change');
  return attachmentsOf(await agent.workspace(), paths, (error, path) => {
    throw fileError(error, path);
  });
}

/** Takes a message and answers as soon as it is stored; who wants the answer follows the session. */
export async function say(exchange: Exchange): Promise<void> {
  const { key = '', session, ...said } = await readJson(exchange, saidSchema);
  if (session !== undefined) await found({ ...exchange, params: [session] });
  const to = session === undefined ? { channel: 'api', key: keyFor(exchange.principal, key) } : { id: session };
  sendJson(exchange, { success: true, ...(await put(exchange, to, said)) }, 202);
}

const noteSchema = z
  .object(
    {
      content: z.string('Message required').trim().min(1, 'Message required').max(100_000),
      /** Names a conversation with a guest; or `session`, its id. */
      key: z.string('key required').trim().min(1, 'key required').max(200).optional(),
      session: z.string().min(1).max(200).optional(),
      role: z.enum(['user', 'assistant']),
      by: z.string().min(1).max(40).optional(),
      id: z.string().min(1).max(200).optional(),
    },
    'Invalid request body',
  )
  .refine(({ key, session }) => key !== undefined || session !== undefined, 'key required');

/** Where people who are no users of the platform talk. */
const GUESTS = 'widget';

/** Words in a conversation that the agent does not answer, since a person does, or nobody asked anything. */
export async function note(exchange: Exchange): Promise<void> {
  const { key = '', session, id, by, ...words } = await readJson(exchange, noteSchema);
  if (session !== undefined) await found({ ...exchange, params: [session] });
  const to = session === undefined ? { channel: GUESTS, key } : { id: session };
  const more = { ...(by !== undefined && { by }), ...(id !== undefined && { inputId: id }) };
  sendJson(exchange, { success: true, ...(await exchange.agent.note({ to, ...words, ...more })) }, 201);
}

type Said = Pick<z.output<typeof saidSchema>, 'content' | 'id' | 'attachments' | 'model' | 'guest'> &
  Partial<Pick<z.output<typeof saidSchema>, 'tools' | 'results' | 'stores'>> & { instruction?: string | undefined };

/** Calls that the session's run waits for, with what came of them. */
async function answered({ agent }: Exchange, to: SessionRef, results: NonNullable<Said['results']>) {
  if (results.length === 0) return [];
  const open = 'id' in to ? await agent.openCalls(to.id) : [];
  return results.map(({ callId, content }) => {
    const call = open.find((one) => one.callId === callId);
    if (!call) throw new AppError(400, `No run of this agent waits for the result of ${callId}`);
    return { callId, tool: call.tool, content };
  });
}

/** Of a guest nothing is wished for but by the owner who lets him in. */
function wishesIn(said: Omit<Said, 'content' | 'id' | 'attachments'>): Wishes {
  const { model, guest, tools = [], instruction, stores } = said;
  if (guest)
    return { max_tokens: guest.maxTokens, ...(guest.abilities === 'answers' && { abilities: guest.abilities }) };
  return {
    ...(model !== undefined && { model }),
    ...(instruction !== undefined && { instruction }),
    ...(stores && { stores }),
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function' as const, function: tool })) }),
  };
}

/** Answers when it is stored; the work goes on. */
async function put(exchange: Exchange, to: SessionRef, { content, id, attachments, results = [], ...said }: Said) {
  const { agent, principal, deps } = exchange;
  // Only the owner lets somebody else speak, or something else be read.
  if (said.guest ?? said.stores) requireRight(principal, 'change');
  const wishes = wishesIn(said);
  const input = {
    to,
    content,
    from: said.guest ? 'visitor' : principal.kind,
    attachments: await attached(exchange, attachments),
    results: await answered(exchange, to, results),
    ...(Object.keys(wishes).length > 0 && { wishes }),
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
  return taken.promise;
}

const branchSchema = z.object(
  {
    at: z.int('at must be the number of a step').min(0, 'at must be the number of a step'),
    content: z.string().trim().max(100_000).default(''),
    id: z
      .string()
      .regex(/^[\w.-]{1,100}$/, 'id must be letters, digits, dots and dashes')
      .optional(),
    attachments: z.array(z.string().min(1).max(1000)).max(MOST_ATTACHMENTS).default([]),
    model: z.string().min(1).max(200).optional(),
    instruction: z.string().max(50_000).optional(),
  },
  'Invalid request body',
);

/** A branch of a conversation after one of its steps; with a message, that is said in it. */
export async function branch(exchange: Exchange): Promise<void> {
  const { at, ...said } = await readJson(exchange, branchSchema);
  const session = await found(exchange);
  const id = said.id ?? newId();
  const sessionId = await branchOff(exchange.agent.store, session.id, at, id);
  const isSaid = said.content !== '' || said.attachments.length > 0;
  const taken = isSaid ? await put(exchange, { id: sessionId }, { ...said, id }) : { sessionId, seq: at };
  sendJson(exchange, { success: true, ...taken }, 201);
}

export async function listBranches(exchange: Exchange<Kept>): Promise<void> {
  const { id } = await found(exchange);
  sendJson(exchange, { branches: await exchange.agent.store.branches(id) });
}

const describeSchema = z.object(
  {
    title: z.string().trim().min(1, 'Title required').max(200, 'Title too long (max 200)').optional(),
    pinned: z.boolean().optional(),
    archived: z.boolean().optional(),
  },
  'Invalid request body',
);

export async function describeSession(exchange: Exchange): Promise<void> {
  const change = await readJson(exchange, describeSchema);
  const { id } = await found(exchange);
  await exchange.agent.store.describe(id, change);
  sendJson(exchange, { session: await found(exchange) });
}

/** What is being done in it is stopped first. */
export async function removeSession(exchange: Exchange): Promise<void> {
  const { agent, principal } = exchange;
  const { id } = await found(exchange);
  for (const one of await agent.store.branches(id)) await agent.cancel(one.id, principal.kind);
  await agent.store.removeConversation(id);
  sendJson(exchange, { success: true });
}

const FOUND = 50;

export async function searchMessages(exchange: Exchange<Kept>): Promise<void> {
  const { agent, principal, query, signal } = exchange;
  const words = (query.get('q') ?? '').trim();
  if (words === '' || words.length > 200) throw new AppError(400, 'q must have 1 to 200 characters');
  const keys = ownKeys(principal);
  const look = () => agent.store.search(words, { limit: FOUND, ...(keys !== undefined && { keys }) });
  sendJson(exchange, { messages: await pages.run(agent.owner, look, signal) });
}

const yes = (query: URLSearchParams, name: string): boolean => query.get(name) === 'true';

export async function listSessions(exchange: Exchange<Kept>): Promise<void> {
  const { query, agent, principal, signal } = exchange;
  const keys = ownKeys(principal);
  const wanted = {
    limit: whole(query, 'limit', 50, 100),
    offset: whole(query, 'offset', 0, 1e6),
    ...(keys !== undefined && { keys }),
    ...(query.has('key') && { key: keyFor(principal, query.get('key') ?? '') }),
    ...(yes(query, 'latest') && { latest: true }),
    ...(query.has('archived') && { archived: yes(query, 'archived') }),
  };
  const sessions = await lists.run(agent.owner, () => agent.store.sessions(wanted), signal);
  sendJson(exchange, { sessions, count: sessions.length });
}

async function found({ agent, principal, params: [id = ''] }: Exchange<Kept>) {
  const session = await agent.store.session(id);
  if (!session || !owns(principal, session)) throw new AppError(404, 'Session not found');
  return session;
}

const BYTES_A_PAGE = 512 * 1024;

export async function readSessionEvents(exchange: Exchange<Kept>): Promise<void> {
  const { agent, query, signal } = exchange;
  const session = await found(exchange);
  const bounds = {
    after: whole(query, 'after', 0, 2 ** 31),
    limit: whole(query, 'limit', 500, 1000),
    bytes: BYTES_A_PAGE,
  };
  const read = async () => {
    const events = await agent.store.events(session.id, bounds);
    const hasMore = (events.at(-1)?.seq ?? session.lastSeq) < session.lastSeq;
    return { value: undefined, bytes: sendJson(exchange, { session, events, hasMore }) };
  };
  await readInTurn(pages, agent.owner, read, signal);
}

/** From where the reader says it is (Last-Event-ID), without a gap, until it leaves or the agent is deleted. */
export async function streamSessionEvents(exchange: Exchange): Promise<void> {
  const { agent, request, response, query, signal } = exchange;
  const { log } = exchange.deps;
  const { id } = await found(exchange);
  const last = Number(request.headers['last-event-id'] ?? query.get('lastEventId') ?? 0);
  const events = agent.follow(id, Number.isInteger(last) && last > 0 ? last : 0, signal);
  // Not waited for: all that the request came with would be kept for as long as its reader stays.
  passOn(events, openEventStream({ response, signal })).catch((err: unknown) => {
    log.error({ err, agentId: agent.id }, 'a stream of events broke off');
    response.destroy();
  });
}

async function passOn(events: ReturnType<Agent['follow']>, stream: EventStream): Promise<void> {
  try {
    await eachOf(events, (live) =>
      live.kind === 'delta'
        ? stream.send({ event: 'delta', data: { text: live.text, ...(live.fresh && { fresh: true }) } })
        : stream.send({ id: live.event.seq, event: live.event.type, data: live.event }),
    );
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

export async function listApprovals(exchange: Exchange<Kept>): Promise<void> {
  const { query, agent, signal } = exchange;
  const page = { limit: APPROVALS_SHOWN + 1, offset: whole(query, 'offset', 0, 1e6) };
  // Thousands may wait, and all are looked at.
  const found = await lists.run(agent.owner, () => agent.store.pendingApprovals(page), signal);
  const approvals = found.slice(0, APPROVALS_SHOWN);
  sendJson(exchange, { approvals, count: approvals.length, hasMore: found.length > approvals.length });
}

/** Calls of one tool by which it can be told what a rule would have allowed. */
const ASKED_SHOWN = 20;

export async function listAsked(exchange: Exchange<Kept>): Promise<void> {
  const tool = exchange.query.get('tool') ?? '';
  const { agent, signal } = exchange;
  const calls = await lists.run(agent.owner, () => agent.store.askedLately(tool, ASKED_SHOWN), signal);
  sendJson(exchange, { calls: calls.map((args) => ({ args })) });
}

const decision = z.object(
  {
    approved: z.boolean('approved must be true or false'),
    answer: z.string().max(ANSWER_LENGTH, ANSWER_TOO_LONG).optional(),
  },
  'Invalid request body',
);

export async function decideApproval(exchange: Exchange): Promise<void> {
  const { approved, answer } = await readJson(exchange, decision);
  await exchange.agent.decide(exchange.params[0] ?? '', approved, exchange.principal.kind, answer);
  sendJson(exchange, { success: true });
}
