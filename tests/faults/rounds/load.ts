import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@troupe/db';
import { newId } from '@troupe/kernel';
import { SERVICE_KEY } from '@troupe/testing/processes/service';
import { cookieOf, elsewhere } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/services';

/** People who write without a pause, each thing under a mark of its own, and look for it afterwards. */

const WAIT_MS = 20_000;
export const PEOPLE = 4;

type Kind = 'chat' | 'key' | 'memory' | 'task' | 'file';

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
}

interface Writer {
  agentId: string;
  userId: string;
  write: (kind: Kind, mark: string) => Promise<Response>;
  read: (path: string) => Promise<Response>;
}

/** Chats are most of what there is. */
const MIX: readonly Kind[] = ['chat', 'key', 'chat', 'memory', 'chat', 'file', 'chat', 'task'];
/** Of each kind one person may have only so many. */
const MOST: Partial<Record<Kind, number>> = { key: 8, task: 100, file: 500 };

function kindOf(count: number): Kind {
  const kind = MIX[count % MIX.length]!;
  return count / MIX.length < (MOST[kind] ?? Infinity) ? kind : 'chat';
}

async function writer(db: Database, address: string): Promise<Writer> {
  const user = await addUser({ db }, { plan: 'network' });
  const cookie = await cookieOf(db, user);
  const ask = (method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(address + path, {
      method,
      headers: {
        cookie,
        // Each call from another address: limits have their own tests.
        authorization: `Bearer ${SERVICE_KEY}`,
        'x-client-ip': elsewhere(),
        ...(body !== undefined && {
          'content-type': typeof body === 'string' ? 'application/octet-stream' : 'application/json',
        }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(WAIT_MS),
    });
  const made = await ask('POST', '/api/agents/provision', { name: 'Ada' });
  if (made.status !== 201) throw new Error(`no agent: ${made.status} ${await made.text()}`);
  const { agent } = (await made.json()) as { agent: { id: string } };
  const write: Writer['write'] = (kind, mark) => {
    if (kind === 'chat') return ask('POST', '/api/chat', { agentId: agent.id, message: mark, topic: mark });
    if (kind === 'key') return ask('POST', '/api/keys', { name: mark });
    if (kind === 'memory') return ask('POST', '/api/memory', { agentId: agent.id, key: mark, memory: mark });
    if (kind === 'file') return ask('PUT', `/api/agents/${agent.id}/files/content?path=${mark}.txt`, mark);
    const task = { name: mark, cronSchedule: '0 0 1 1 *', prompt: mark, agentId: agent.id };
    return ask('POST', '/api/scheduled-tasks', task);
  };
  return { agentId: agent.id, userId: user.id, write, read: (path) => ask('GET', path) };
}

export interface Load {
  /** How long each answer took, in milliseconds, since this was asked last. */
  times: () => number[];
  /** Ends it, and gives what was asked and answered. */
  stop: () => Promise<Tally>;
  /** What is not as it was answered: a sentence for each. */
  look: () => Promise<string[]>;
}

export async function startLoad(db: Database, address: string): Promise<Load> {
  const people = await Promise.all(Array.from({ length: PEOPLE }, () => writer(db, address)));
  const writes = new Map<Writer, Write[]>(people.map((one) => [one, []]));
  const tally: Tally = { asked: 0, answered: 0, refusals: {} };
  const times: number[] = [];
  const over = new AbortController();
  const one = async (who: Writer): Promise<void> => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      const write: Write = { kind: kindOf(count), mark: newId(), done: false };
      writes.get(who)?.push(write);
      tally.asked += 1;
      const begun = performance.now();
      const answer = await said(who.write(write.kind, write.mark));
      times.push(performance.now() - begun);
      write.done = answer === '200' || answer === '201';
      if (write.done) tally.answered += 1;
      else {
        const what = `${write.kind} ${answer}`;
        tally.refusals[what] = (tally.refusals[what] ?? 0) + 1;
        await delay(100);
      }
    }
  };
  const working = Promise.all(people.map(one));
  return {
    times: () => times.splice(0),
    async stop() {
      over.abort();
      await working;
      return tally;
    },
    look: async () => (await Promise.all([...writes].map(([who, made]) => look(db, who, made)))).flat(),
  };
}

async function said(asked: Promise<Response>): Promise<string> {
  try {
    const response = await asked;
    await response.arrayBuffer();
    return `${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}

/** Each that was answered is there once; each that was not, at most once. */
async function look(db: Database, who: Writer, writes: readonly Write[]): Promise<string[]> {
  const counts = await countMarks(db, who);
  const wrong: string[] = [];
  for (const { kind, mark, done } of writes) {
    const found = kind === 'file' ? await countFile(who, mark) : (counts[kind].get(mark) ?? 0);
    if (found > 1 || (done && found !== 1))
      wrong.push(`${kind} ${mark}: ${done ? 'answered' : 'refused'}, there ${found} times`);
  }
  return wrong;
}

async function countFile({ agentId, read }: Writer, mark: string): Promise<number> {
  const response = await read(`/api/agents/${agentId}/files/content?path=${mark}.txt`);
  const text = await response.text();
  return response.status === 200 && text === mark ? 1 : 0;
}

async function countMarks(
  db: Database,
  { agentId, userId }: Writer,
): Promise<Record<Exclude<Kind, 'file'>, Map<string, number>>> {
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
  const said = events.map(({ data }) => ({ mark: (data as { content?: string }).content ?? '' }));
  return { key: tallied(keys), task: tallied(tasks), memory: tallied(memories), chat: tallied(said) };
}

function tallied(rows: readonly { mark: string | null }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { mark } of rows) counts.set(mark ?? '', (counts.get(mark ?? '') ?? 0) + 1);
  return counts;
}
