import { EventEmitter } from 'node:events';
import { createStreams, type Stream } from '@troupe/accounts';
import { CallError, gateway, type backend, type Client, type TypesOf } from '@troupe/contract';
import { toolsetOf } from '@troupe/domain';
import { callOf, ManagedTranslator, type ManagedEvent, type ServerOf, type Step } from '@troupe/interop';
import { AppError, eventTexts, iso, isoOrNull, newId, type Answer, type RequestInfo } from '@troupe/kernel';
import { beginning } from './beginning.ts';
import { createBringing, type Block } from './blocks.ts';
import { changed, PAGE_BYTES, paged, type ListQuery } from './paging.ts';
import { toldBy } from './reaching.ts';
import type { Into } from './resources.ts';
import type { Managed } from './service.ts';
import type { About, Inner, Place, SessionDeps, Shown } from './session.ts';
import * as store from './store.ts';
import { heard, TAIL, told } from './stream.ts';

/** Sessions as clients of Managed Agents know them: a name for a conversation of an agent, which the agent itself keeps. */

type Change = TypesOf<typeof backend.managed.updateSession>['body'];
type Sent = TypesOf<typeof backend.managed.sendEvents>['body']['events'][number];
type Request = Pick<RequestInfo, 'holds'>;

export type ManagedSessions = ReturnType<typeof createSessions>;

/** Streams of one user that wait. */
const MOST_STREAMS = 20;
const PAGE = 500;

const conversations = gateway.conversations;
const textOf = (content: readonly { text: string }[] | null | undefined): string =>
  (content ?? []).map(({ text }) => text).join('\n');

const textsIn = (blocks: readonly Block[]) => blocks.filter((block) => block.type === 'text');

const STATUS = { idle: 'idle', open: 'running', waiting: 'idle' } as const;

const vaultsOf = ({ vault_ids: ids }: Pick<store.SessionRow, 'vault_ids'>): string[] => (ids as string[] | null) ?? [];

export function createSessions(deps: SessionDeps) {
  const { db, managed, reach } = deps;
  const got = async (userId: string, id: string): Promise<store.SessionRow> => {
    const row = await store.session(db, userId, id);
    if (!row) throw new AppError(404, 'Session not found');
    return row;
  };
  async function place(userId: string, id: string): Promise<Place> {
    const session = await got(userId, id);
    const { agent_id: agentId, conversation } = session;
    const client = await reach({ id: agentId, userId });
    return { session, client, at: conversation === null ? undefined : { agentId, id: conversation } };
  }
  const statusOf = async (userId: string, row: store.SessionRow): Promise<Shown['status']> => {
    if (row.conversation === null) return 'idle';
    try {
      const client = await reach({ id: row.agent_id, userId });
      const params = { agentId: row.agent_id, id: row.conversation };
      const { session } = await client.call(conversations.get, { params, query: { after: 0, limit: 1 } });
      return STATUS[session.status];
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      // Its agent is stopped, and goes on when it runs again; or the conversation was deleted with what was in it.
      return error.status === 404 ? 'terminated' : 'rescheduling';
    }
  };
  async function shown(userId: string, row: store.SessionRow, { status, of }: About = {}): Promise<Shown> {
    const {
      archived_at: _,
      created_at: __,
      updated_at: ___,
      metadata: ____,
      ...agent
    } = await (of ?? managed.getAgent)(userId, row.agent_id, undefined);
    return {
      type: 'session' as const,
      id: row.id,
      agent,
      environment_id: row.environment_id,
      status: status ?? (await statusOf(userId, row)),
      title: row.title,
      metadata: row.metadata as store.Metadata,
      created_at: iso(row.created_at),
      updated_at: iso(row.updated_at),
      archived_at: isoOrNull(row.archived_at),
      deployment_id: row.deployment_id,
      budget: null,
      outcome_evaluations: [],
      resources: await deps.resources.all(userId, row.id),
      vault_ids: vaultsOf(row),
      stats: {},
      usage: {},
    };
  }
  const inner = { got, place, shown };
  return { ...beginning(deps, inner), ...keeping(deps, inner), ...happening(deps, inner, createTaking(deps, inner)) };
}

/** Many sessions have the same agent. */
function once(get: Managed['getAgent']): Managed['getAgent'] {
  const found = new Map<string, ReturnType<typeof get>>();
  return (userId, id, version) => {
    const known = found.get(id) ?? get(userId, id, version);
    found.set(id, known);
    return known;
  };
}

interface SessionQuery extends ListQuery {
  agent_id?: string | undefined;
  deployment_id?: string | undefined;
}

function keeping({ db, clock, managed }: SessionDeps, { got, place, shown }: Inner) {
  const change = async (userId: string, id: string, values: Parameters<typeof store.changeSession>[3]) => {
    const row = await store.changeSession(db, userId, id, { ...values, updated_at: clock() });
    if (!row) throw new AppError(404, 'Session not found');
    return shown(userId, row);
  };
  return {
    get: async (userId: string, id: string) => shown(userId, await got(userId, id)),
    async update(userId: string, id: string, { title, metadata }: Change) {
      const was = await got(userId, id);
      const next = JSON.stringify(changed(was.metadata as store.Metadata, metadata));
      return change(userId, id, { ...(title !== undefined && { title }), metadata: next });
    },
    async list(userId: string, { agent_id: agentId, deployment_id: deploymentId, ...query }: SessionQuery) {
      if (agentId !== undefined) await managed.getAgent(userId, agentId, undefined);
      const of = once(managed.getAgent);
      const page = await paged(
        query,
        (wanted) => store.sessions(db, userId, { ...wanted, agentId, deploymentId }),
        (row) => shown(userId, row, { of }),
      );
      return { ...page, prev_page: null };
    },
    async archive(userId: string, id: string) {
      const was = await got(userId, id);
      return change(userId, id, { archived_at: was.archived_at ?? clock() });
    },
    async remove(userId: string, id: string) {
      const { client, at } = await place(userId, id);
      if (at)
        await client.call(conversations.remove, { params: at }).catch((error: unknown) => {
          // It was deleted there before.
          if (!(error instanceof CallError && error.status === 404)) toldBy(error);
        });
      await store.remove(db, userId, 'managed_sessions', id);
      return { id, type: 'session_deleted' as const };
    },
  };
}

/** What somebody does in a session, at the agent's own gateway. */
function createTaking({ db, clock, managed, stores, files }: SessionDeps, { place }: Inner) {
  const bring = createBringing({ files });
  /** `once`: said again under that name, it is not said twice. */
  async function say(
    userId: string,
    { session, client, at }: Place,
    { content, attachments = [] }: { content: string; attachments?: readonly string[] },
    once?: string,
  ): Promise<ManagedEvent> {
    const { tools } = await managed.getAgent(userId, session.agent_id, undefined);
    const custom = tools.flatMap((tool) => (tool.type === 'custom' ? [callersTool(tool)] : []));
    const where = at ? { session: at.id } : { key: `managed:${session.id}` };
    const params = { agentId: session.agent_id };
    const named = once === undefined ? {} : { id: once };
    const says = await stores.says(userId, session.id);
    const body = {
      ...where,
      ...named,
      content,
      ...(attachments.length > 0 && { attachments: [...attachments] }),
      ...(custom.length > 0 && { tools: custom }),
      ...(says !== undefined && { stores: { session: session.id, says } }),
    };
    const { sessionId, seq } = await client.call(conversations.say, { params, body });
    if (!at) await store.changeSession(db, userId, session.id, { conversation: sessionId, updated_at: clock() });
    return {
      id: `sevt_${seq}.0`,
      type: 'user.message',
      content: [{ type: 'text', text: content }],
      processed_at: null,
    };
  }

  async function take(userId: string, id: string, event: Sent, request: Request): Promise<ManagedEvent> {
    const found = await place(userId, id);
    const { at, client, session } = found;
    if (event.type === 'user.message') {
      const where = { userId, agentId: session.agent_id, client };
      const attachments = await bring(where, event.content, request);
      const said = await say(userId, found, { content: textOf(textsIn(event.content)), attachments });
      return { ...said, content: event.content.filter(({ type }) => type === 'text') };
    }
    if (event.type === 'user.interrupt') {
      if (at) await client.call(conversations.cancel, { params: at });
      return { id: `sevt_${newId()}`, type: event.type, processed_at: null };
    }
    return event.type === 'user.custom_tool_result' ? giveResult(found, event) : decide(found, event);
  }

  return { take, say };
}

/** Gives what came of a call of the caller's own tool. */
async function giveResult(
  { client, at }: Place,
  event: Extract<Sent, { type: 'user.custom_tool_result' }>,
): Promise<ManagedEvent> {
  const name = event.custom_tool_use_id;
  const callId = callOf(name);
  if (!at || callId === undefined) throw new AppError(400, `No run of this agent waits for the result of ${name}`);
  const said = textOf(event.content);
  const results = [{ callId, content: event.is_error ? `Error: ${said}` : said }];
  await client.call(conversations.say, {
    params: { agentId: at.agentId },
    body: { session: at.id, content: '', results },
  });
  return { ...event, id: `sevt_${newId()}`, processed_at: null };
}

async function decide(
  { client, at }: Place,
  event: Extract<Sent, { type: 'user.tool_confirmation' }>,
): Promise<ManagedEvent> {
  const approvalId = at && (await approvalOf(client, at, event.tool_use_id));
  if (!approvalId) throw new AppError(400, `No approval waits for ${event.tool_use_id}`);
  await client.call(conversations.decide, {
    params: { agentId: at.agentId, id: approvalId },
    body: { approved: event.result === 'allow' },
  });
  return { ...event, id: `sevt_${newId()}`, processed_at: null };
}

function happening(
  { listener, managed }: SessionDeps,
  { place }: Inner,
  { take, say }: ReturnType<typeof createTaking>,
) {
  const serversOf = async (userId: string, agentId: string): Promise<ServerOf> =>
    serverNames((await managed.getAgent(userId, agentId, undefined)).mcp_servers.map(({ name }) => name));
  const news = new EventEmitter().setMaxListeners(0);
  return {
    /** One after the other: the first that is refused ends it, and says so. */
    async send(userId: string, id: string, events: readonly Sent[], request: Request) {
      const { session } = await place(userId, id);
      if (session.archived_at !== null) throw new AppError(400, 'The session is archived');
      const data: ManagedEvent[] = [];
      for (const event of events) {
        data.push(await take(userId, id, event, request).catch(toldBy));
        news.emit(id);
      }
      return { data };
    },

    /** What a deployment says first. */
    async begin(userId: string, id: string, content: string, once: string): Promise<void> {
      await say(userId, await place(userId, id), { content }, once).catch(toldBy);
      news.emit(id);
    },

    /** Where files go that the session is given; what happens in it goes on meanwhile. */
    async into(userId: string, id: string): Promise<Into> {
      const { session, client } = await place(userId, id);
      if (session.archived_at !== null) throw new AppError(400, 'The session is archived');
      return { userId, sessionId: id, agentId: session.agent_id, client };
    },

    async events(userId: string, id: string, { limit, page = '0.0.0' }: { limit: number; page?: string | undefined }) {
      const read = /^(\d{1,9})\.(\d{1,9})\.(\d{1,4})$/.exec(page)?.slice(1).map(Number);
      if (!read) throw noPage();
      const { session, client, at } = await place(userId, id);
      if (!at) return { data: [], next_page: null };
      const serverOf = await serversOf(userId, session.agent_id);
      const steps: ReadSteps = (query) => client.call(conversations.get, { params: at, query }).catch(toldBy);
      return eventPage(steps, limit, read, serverOf);
    },

    ...streaming({ listener, place, news, serversOf }),
  };
}

interface Streaming {
  listener: SessionDeps['listener'];
  place: Inner['place'];
  news: EventEmitter;
  serversOf: (userId: string, agentId: string) => Promise<ServerOf>;
}

function streaming({ listener, place, news, serversOf }: Streaming) {
  const streams = createStreams(listener, { most: MOST_STREAMS, refusal: `At most ${MOST_STREAMS} streams at a time` });
  return {
    /** No longer than the key lasts that opened it. */
    async stream(user: Stream['user'], id: string, reader: AbortSignal): Promise<Answer> {
      const look = () => place(user.id, id);
      const found = await look();
      // From what is there now; where nothing was said yet, from the beginning.
      const from = found.at ? await lastOf(found.client, found.at).catch(toldBy) : 0;
      const serverOf = await serversOf(user.id, found.session.agent_id);
      const ended = new AbortController();
      const signal = AbortSignal.any([reader, ended.signal]);
      const leave = streams.join({ user, end: () => ended.abort() });
      // Whoever left before the first word is never asked for it.
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
      const wait = () => heard(news, id, signal);
      return eventTexts(told(look, found, { from, wait, signal, leave, serverOf }));
    },
  };
}

type At = NonNullable<Place['at']>;

async function lastOf(client: Client, at: At): Promise<number> {
  const { session } = await client.call(conversations.get, { params: at, query: { after: 0, limit: 1 } });
  return session.lastSeq;
}

const callersTool = (tool: object) => {
  const {
    name,
    description,
    input_schema: parameters,
  } = tool as {
    name: string;
    description: string;
    input_schema: Record<string, unknown>;
  };
  return { name, description, parameters };
};

/** The approval that a call waits for. */
async function approvalOf(client: Client, at: At, toolUseId: string): Promise<string | undefined> {
  const callId = callOf(toolUseId);
  const after = Math.max(0, (await lastOf(client, at)) - TAIL);
  const { events } = await client.call(conversations.get, { params: at, query: { after, limit: TAIL } });
  const asked = (events as Step[]).findLast((step) => step.type === 'approval_requested' && step['callId'] === callId);
  return asked?.['approvalId'] as string | undefined;
}

/** How far is read to where a page begins. */
const MOST_READS = 40;
const noPage = () => new AppError(400, 'page must be one that was given');

interface Steps {
  events: unknown[];
  hasMore?: boolean | undefined;
}

type ReadSteps = (query: { after: number; limit: number }) => Promise<Steps>;

/** Tools of servers go by the server's name and their own; a tool of the agent's own may begin alike. */
function serverNames(names: readonly string[]): ServerOf {
  const starts = names.map((server) => ({ server, start: `${server.replace(/[^A-Za-z0-9_-]/g, '_')}_` }));
  return (tool) => {
    if (toolsetOf(tool) !== undefined) return undefined;
    const fitting = starts.filter(({ start }) => tool.startsWith(start));
    const longest = fitting.toSorted((one, other) => other.start.length - one.start.length)[0];
    return longest && { server: longest.server, name: tool.slice(longest.start.length) };
  };
}

/**
 * A page goes on after the step `after`, of whose successor `skip` events were told. What was waited for there is known
 * again from the step before `anchor` on.
 */
async function eventPage(
  read: ReadSteps,
  limit: number,
  [after = 0, anchor = 0, skip = 0]: readonly number[],
  serverOf: ServerOf,
): Promise<{ data: ManagedEvent[]; next_page: string | null }> {
  const translator = new ManagedTranslator(serverOf);
  const data: ManagedEvent[] = [];
  let [done, begin, bytes] = [Math.max(0, anchor - 1), anchor, 0];
  for (let reads = 1; ; reads += 1) {
    // From its anchor on a page that was given is near; one that was made up may be behind everything.
    if (done < after && reads > MOST_READS) throw noPage();
    const { events, hasMore } = await read({ after: done, limit: PAGE });
    for (const step of events as Step[]) {
      const all = translator.add(step);
      const fresh = step.seq <= after ? [] : step.seq === after + 1 ? all.slice(skip) : all;
      const room = limit - data.length;
      if (fresh.length > room) {
        const told = all.length - fresh.length + room;
        return { data: [...data, ...fresh.slice(0, room)], next_page: `${step.seq - 1}.${begin}.${told}` };
      }
      data.push(...fresh);
      if (ManagedTranslator.isAnchor(step)) begin = step.seq;
      done = step.seq;
      for (const one of fresh) bytes += JSON.stringify(one).length;
      if (bytes > PAGE_BYTES) return { data, next_page: `${done}.${begin}.0` };
    }
    if (!hasMore) return { data, next_page: null };
  }
}
