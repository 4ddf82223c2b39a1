import { setTimeout as delay } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { eventsOf } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { newId } from '@troupe/kernel';
import { SERVICE_KEY } from '@troupe/testing/processes/service';
import { cookieOf, elsewhere } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';
import { isWritten, toWrite } from './model.ts';

/** People who write without a pause, each thing under a mark of its own, and look for it afterwards. */

/** A busy machine answers late, and late is not lost. */
const WAIT_MS = 60_000;
const SLOW_MS = 2_000;
export const PEOPLE = 4;

/**
 * `stream`: a chat that is answered word by word. `made`: a file that an agent writes with a tool. `title`: a conversation
 * that is given a name. `setting`: the only one that replaces what was written before.
 */
type Kind =
  | 'chat'
  | 'stream'
  | 'key'
  | 'memory'
  | 'task'
  | 'file'
  | 'made'
  | 'title'
  | 'document'
  | 'webhook'
  | 'setting'
  | 'mark';

interface Write {
  kind: Kind;
  mark: string;
  /** Answered as done. What was not may be there, once. */
  done: boolean;
}

export interface Tally {
  asked: number;
  answered: number;
  /** What was answered instead, with how often. */
  refusals: Record<string, number>;
  /** Of each kind, what was answered as done. */
  kinds: Partial<Record<Kind, number>>;
}

/** Somebody with an agent. */
export interface Writer {
  agentId: string;
  userId: string;
  /** 'done', or what was said instead. */
  write: (kind: Kind, mark: string) => Promise<string>;
  ask: (method: string, path: string, body?: unknown, more?: Asking) => Promise<Response>;
}

interface Asking {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Where streamed answers of one person are kept, all in one conversation. */
export const TALK = 'talk';

/** Chats are most of what there is. These every release knows that another is exchanged for. */
export const OLD_MIX: readonly Kind[] = ['chat', 'key', 'stream', 'memory', 'made', 'file', 'chat', 'task', 'stream'];
const NEW_KINDS = ['title', 'document', 'webhook', 'setting', 'mark'] as const;
const MIX: readonly Kind[] = [...OLD_MIX, 'title', 'document', 'chat', 'webhook', 'setting', 'stream', 'mark'];
/** Of each kind one person may have only so many. */
const MOST: Partial<Record<Kind, number>> = { key: 8, task: 100, file: 500, made: 500, document: 90, webhook: 20 };

function kindOf(mix: readonly Kind[], count: number): Kind {
  const kind = mix[count % mix.length]!;
  return count / mix.length < (MOST[kind] ?? Infinity) ? kind : 'chat';
}

/** A connection for each: one that is kept may be cut by the proxy just when something is sent on it. */
const each = new Agent({ pipelining: 0 });
const send = async (url: string, init: NonNullable<Parameters<typeof fetch>[1]>): Promise<Response> =>
  (await fetch(url, { ...init, dispatcher: each })) as unknown as Response;

async function openWriter(db: Database, address: string, mix: readonly Kind[]): Promise<Writer> {
  const user = await addUser({ db }, { plan: 'network' });
  const cookie = await cookieOf(db, user);
  const ask: Writer['ask'] = (method, path, body, { headers = {}, signal } = {}) =>
    send(address + path, {
      method,
      headers: {
        cookie,
        // Each call from another address: limits have their own tests.
        authorization: `Bearer ${SERVICE_KEY}`,
        'x-client-ip': elsewhere(),
        ...(body !== undefined && {
          'content-type': typeof body === 'string' ? 'application/octet-stream' : 'application/json',
        }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: signal ?? AbortSignal.timeout(WAIT_MS),
    });
  const { agent } = await made<{ agent: { id: string } }>(ask('POST', '/api/agents/provision', { name: 'Ada' }));
  const isNew = mix.includes('document');
  const { id: collection } = isNew
    ? await made<{ id: string }>(ask('POST', '/api/knowledge', { name: 'What is known' }))
    : { id: '' };
  const ways: Ways = { ...oldWays(ask, agent.id), ...newWays(ask, agent.id, collection) };
  const write: Writer['write'] = (kind, mark) =>
    ways[kind](mark).catch((error: unknown) => (error instanceof Error ? error.name : String(error)));
  return { agentId: agent.id, userId: user.id, write, ask };
}

type Ways = Record<Kind, (mark: string) => Promise<string>>;
type NewKind = (typeof NEW_KINDS)[number];

async function made<T>(asked: Promise<Response>): Promise<T> {
  const answer = await asked;
  if (answer.status !== 201) throw new Error(`not made: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

function oldWays(ask: Writer['ask'], agentId: string): Omit<Ways, NewKind> {
  const chat = (message: string, topic: string) => ({ agentId, message, topic });
  const task = { cronSchedule: '0 0 1 1 *', agentId };
  return {
    chat: (mark) => said(ask('POST', '/api/chat', chat(mark, mark))),
    stream: (mark) => heard(ask('POST', '/api/chat', chat(mark, TALK), { headers: { accept: 'text/event-stream' } })),
    made: (mark) => written(ask('POST', '/api/chat', chat(toWrite(mark), mark)), mark),
    key: (mark) => said(ask('POST', '/api/keys', { name: mark })),
    memory: (mark) => said(ask('POST', '/api/memory', { agentId, key: mark, memory: mark })),
    file: (mark) => said(ask('PUT', `/api/agents/${agentId}/files/content?path=${mark}.txt`, mark)),
    task: (mark) => said(ask('POST', '/api/scheduled-tasks', { ...task, name: mark, prompt: mark })),
  };
}

function newWays(ask: Writer['ask'], agentId: string, collection: string): Pick<Ways, NewKind> {
  return {
    title: (mark) => named(ask, agentId, mark),
    document: (mark) => said(ask('POST', `/api/knowledge/${collection}/documents`, { name: mark, text: mark })),
    // Nothing happens that it would be told of.
    webhook: (mark) => said(ask('POST', '/api/webhooks', { url: hookOf(mark), events: ['payment.paid'] })),
    setting: (mark) => said(ask('POST', '/api/settings', { notifications: { mark } })),
    mark: (mark) => said(ask('PUT', `/api/inbox/marks/${mark}`, { state: 'done' })),
  };
}

const hookOf = (mark: string): string => `https://hooks.example.org/${mark}`;

/** Of a conversation of its own. */
async function named(ask: Writer['ask'], agentId: string, mark: string): Promise<string> {
  const message = { message: `for ${mark}`, topic: mark };
  const begun = await ask('POST', `/api/agents/${agentId}/messages`, message);
  if (begun.status !== 202) return said(Promise.resolve(begun));
  const { sessionId } = (await begun.json()) as { sessionId: string };
  return said(ask('PATCH', `/api/agents/${agentId}/sessions/${sessionId}`, { title: mark }));
}

const DONE = 'done';
const isGood = ({ status }: Response): boolean => status === 200 || status === 201;

async function said(asked: Promise<Response>): Promise<string> {
  const response = await asked;
  await response.arrayBuffer();
  return isGood(response) ? DONE : `${response.status}`;
}

/** Answered when its last word has come. */
async function heard(asked: Promise<Response>): Promise<string> {
  const response = await asked;
  if (!isGood(response)) return said(asked);
  for await (const { event } of eventsOf(response)) {
    if (event === 'done') return DONE;
    if (event === 'error') return 'broke off with a word';
  }
  return 'broke off';
}

/** An answer is one thing; that the tool did it is another. */
async function written(asked: Promise<Response>, mark: string): Promise<string> {
  const response = await asked;
  if (!isGood(response)) return said(asked);
  const { reply } = (await response.json()) as { reply: string };
  return isWritten(reply, mark) ? DONE : 'the tool could not';
}

export interface Load {
  people: readonly Writer[];
  /** How long each answer took, in milliseconds, since this was asked last. */
  times: () => number[];
  /** When each write was answered as done, by `performance.now()`. */
  answeredAt: () => readonly number[];
  /** From now on each person writes seldom. */
  slow: () => void;
  /** Ends it, and gives what was asked and answered. */
  stop: () => Promise<Tally>;
  /** What is not as it was answered: a sentence for each. */
  look: () => Promise<string[]>;
}

/** `pauseMs`: what each person waits between two writes. `over`: who has not been stopped ends then. */
export async function startLoad(
  { db, address, over: worldIsOver }: { db: Database; address: string; over?: AbortSignal },
  count = PEOPLE,
  pauseMs = 0,
  mix = MIX,
): Promise<Load> {
  const people = await Promise.all(Array.from({ length: count }, () => openWriter(db, address, mix)));
  const writes = new Map<Writer, Write[]>(people.map((one) => [one, []]));
  const tally: Tally = { asked: 0, answered: 0, refusals: {}, kinds: {} };
  const times: number[] = [];
  const answers: number[] = [];
  const stopped = new AbortController();
  const over = AbortSignal.any([stopped.signal, ...(worldIsOver ? [worldIsOver] : [])]);
  let pause = pauseMs;
  const one = async (who: Writer): Promise<void> => {
    for (let count = 0; !over.aborted; count += 1) {
      const write: Write = { kind: kindOf(mix, count), mark: newId(), done: false };
      writes.get(who)?.push(write);
      tally.asked += 1;
      const begun = performance.now();
      const answer = await who.write(write.kind, write.mark);
      times.push(performance.now() - begun);
      write.done = answer === DONE;
      if (write.done) {
        tally.answered += 1;
        answers.push(performance.now());
        tally.kinds[write.kind] = (tally.kinds[write.kind] ?? 0) + 1;
      } else {
        const what = `${write.kind} ${answer}`;
        tally.refusals[what] = (tally.refusals[what] ?? 0) + 1;
        await delay(100);
      }
      if (pause > 0) await delay(pause, undefined, { signal: over }).catch(() => undefined);
    }
  };
  const working = Promise.all(people.map(one));
  return {
    people,
    times: () => times.splice(0),
    answeredAt: () => answers,
    slow: () => void (pause = SLOW_MS),
    async stop() {
      stopped.abort();
      await working;
      return tally;
    },
    look: async () => (await Promise.all([...writes].map(([who, made]) => look(db, who, made)))).flat(),
  };
}

/** Each that was answered is there once; each that was not, at most once. */
async function look(db: Database, who: Writer, writes: readonly Write[]): Promise<string[]> {
  const counts = await countMarks(db, who);
  const wrong: string[] = [];
  for (const { kind, mark, done } of writes) {
    if (kind === 'setting') continue;
    const found = isFile(kind) ? await countFile(who, mark) : (counts[kind].get(mark) ?? 0);
    if (found > 1 || (done && found !== 1))
      wrong.push(`${kind} ${mark}: ${done ? 'answered' : 'refused'}, there ${found} times`);
  }
  return [...wrong, ...(await lookAtSetting(db, who, writes))];
}

/** The last that was answered is there, or one after it that was not. */
async function lookAtSetting(db: Database, { userId }: Writer, writes: readonly Write[]): Promise<string[]> {
  const marks = writes.filter(({ kind }) => kind === 'setting');
  const last = marks.findLastIndex(({ done }) => done);
  if (last < 0) return [];
  const { notifications } = await db.system
    .selectFrom('users')
    .select('notifications')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  const { mark } = notifications as { mark?: string };
  return marks.slice(last).some((one) => one.mark === mark)
    ? []
    : [`setting ${marks[last]!.mark}: answered, and ${mark} is there`];
}

const isFile = (kind: Kind): kind is 'file' | 'made' => kind === 'file' || kind === 'made';

async function countFile({ agentId, ask }: Writer, mark: string): Promise<number> {
  const response = await ask('GET', `/api/agents/${agentId}/files/content?path=${mark}.txt`);
  const text = await response.text();
  return response.status === 200 && text === mark ? 1 : 0;
}

async function countMarks(
  db: Database,
  { agentId, userId }: Writer,
): Promise<Record<Exclude<Kind, 'file' | 'made' | 'setting'>, Map<string, number>>> {
  const { system } = db;
  const keys = await system.selectFrom('api_keys').select('name as mark').where('user_id', '=', userId).execute();
  const tasks = await system
    .selectFrom('scheduled_tasks')
    .select('name as mark')
    .where('user_id', '=', userId)
    .execute();
  const memories = await system
    .selectFrom('agent_memory')
    .select('key as mark')
    .where('agent_id', '=', agentId)
    .execute();
  const events = await system
    .selectFrom('agent_events')
    .select(['data', 'type'])
    .where('agent_id', '=', agentId)
    .where('type', '=', 'user')
    .execute();
  const sessions = await system
    .selectFrom('agent_sessions')
    .select('title as mark')
    .where('agent_id', '=', agentId)
    .where('title', 'is not', null)
    .execute();
  const documents = await system
    .selectFrom('knowledge_documents')
    .select('name as mark')
    .where('user_id', '=', userId)
    .execute();
  const hooks = await system.selectFrom('webhook_endpoints').select('url').where('user_id', '=', userId).execute();
  const marks = await system.selectFrom('inbox_marks').select('item as mark').where('user_id', '=', userId).execute();
  const chat = tallied(events.map(({ data }) => ({ mark: (data as { content?: string }).content ?? '' })));
  return {
    key: tallied(keys),
    task: tallied(tasks),
    memory: tallied(memories),
    chat,
    stream: chat,
    title: tallied(sessions),
    document: tallied(documents),
    webhook: tallied(hooks.map(({ url }) => ({ mark: url.split('/').at(-1) ?? '' }))),
    mark: tallied(marks),
  };
}

function tallied(rows: readonly { mark: string | null }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { mark } of rows) counts.set(mark ?? '', (counts.get(mark ?? '') ?? 0) + 1);
  return counts;
}
