import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createPgStore, createSandbox, createToolkit, wakeAgent, type Agent, type Peers } from '@troupe/agent';
import type { ChatRequest, ChatResult, ModelClient } from '@troupe/ai';
import { newDefinition } from '@troupe/domain';
import { createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import { testDatabase, testUser } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { finish, printTable } from './lib/report.ts';
import { median } from './lib/sides.ts';

/**
 * A lead that answers while a hundred tasks of it go on in the same process, against the same lead with none. The model
 * answers the lead at once, so that its time is all ours, and members after a second, as fast models do; each member takes
 * a step with a tool a second for as long as the measuring lasts. Rows are in PostgreSQL.
 */

const TASKS = 100;
const ANSWERS = 60;
const MODEL_MS = 1000;
const PATIENCE_MS = 120_000;

let isOver = false;

const said = (request: ChatRequest, words: string, calls: readonly { tool: string; args: object }[]): ChatResult => ({
  id: 'r',
  model: request.model ?? '',
  provider: 'bench',
  message: {
    role: 'assistant',
    content: words,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ tool, args }, index) => ({
        id: `c${index}`,
        type: 'function' as const,
        function: { name: tool, arguments: JSON.stringify(args) },
      })),
    }),
  },
  finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  usageEstimated: false,
  costMicros: 0,
});

const textOf = ({ messages }: ChatRequest): string => String(messages.at(-1)?.content ?? '');

const leads: ModelClient['chat'] = async (request) => {
  if (textOf(request) !== 'begin') return said(request, 'here', []);
  const calls = Array.from({ length: TASKS / 2 }, (_, n) => ({
    tool: 'run_background_agent',
    args: { agent: 'worker', task: `part ${n}` },
  }));
  return said(request, '', calls);
};

let thoughts = 0;
const works: ModelClient['chat'] = async (request, { signal } = {}) => {
  await delay(MODEL_MS, undefined, { ...(signal && { signal }) });
  if (isOver) return said(request, 'done', []);
  return said(request, '', [{ tool: 'think', args: { thought: String((thoughts += 1)) } }]);
};

const clientOf = (chat: ModelClient['chat']): ModelClient => ({
  chat,
  stream() {
    throw new Error('nobody reads along here');
  },
});

const database = await testDatabase();
const { db } = database;
const folder = await mkdtemp(path.join(tmpdir(), 'bench-background-'));
await testUser(db, 'u');
const pool = createWorkerPool();
const outbound = createOutbound();
const agents = new Map<string, Agent>();
const peers: Peers = async ({ agentId }) => agents.get(agentId);
const limits = { maxTurns: 1000, maxTokens: 1e9, maxCostMicros: 1e9, maxSeconds: 3600 };
for (const name of ['lead', 'worker']) {
  await sql`insert into agents (id, user_id, name) values (${name}, 'u', ${name})`.execute(db.system);
  const store = createPgStore({ db, userId: 'u', agentId: name });
  const members = name === 'lead' ? [{ agentId: 'worker', name: 'worker', role: 'worker' }] : [];
  const team = { id: 't', name: 'T', members };
  await store.saveDefinition(newDefinition({ name, tools: ['think'], limits, team, traits: { background: true } }));
  const ways = { store, pool, outbound, peers, owner: 'u', log: silentLog, sandbox: createSandbox() };
  const { tools } = createToolkit({ ...ways, workspaceRoot: path.join(folder, name) });
  const model = clientOf(name === 'lead' ? leads : works);
  agents.set(name, wakeAgent({ agentId: name, owner: 'u', store, model, tools, peers, log: silentLog }));
}
/** Whoever waits for ever says nothing of why. */
async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`not after ${PATIENCE_MS / 1000} s: ${what}`);
    await delay(20);
  }
}

const lead = agents.get('lead')!;
const worker = agents.get('worker')!;

/** Milliseconds of answers in a conversation of its own, a few a second. */
async function answers(key: string): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < ANSWERS; n += 1) {
    const started = performance.now();
    await lead.ask({ to: { channel: 'web', key: `${key}-${n % 6}` }, content: `hello ${n}` });
    times.push(performance.now() - started);
    await delay(100);
  }
  return times;
}

await answers('warm');
const quiet = await answers('quiet');
const given = performance.now();
for (let n = 0; n < 2; n += 1) await lead.ask({ to: { channel: 'web', key: 'main' }, content: 'begin' });
const givenMs = performance.now() - given;
await until(`${TASKS} tasks at once`, () => worker.busy() >= TASKS);
const before = thoughts;
const loaded = await answers('loaded');
const steps = thoughts - before;
const atOnce = worker.busy();
isOver = true;
const ending = performance.now();
await until('all tasks told', () => lead.busyInBackground() === 0);
const endedMs = performance.now() - ending;

const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;
printTable('An answer of the lead, in milliseconds', [
  { tasks: 0, median: median(quiet), p95: p95(quiet) },
  { tasks: atOnce, median: median(loaded), p95: p95(loaded) },
]);
printTable('A hundred tasks', [
  { 'given ms': givenMs, 'steps meanwhile': steps, 'told after the last step, ms': endedMs },
]);
await lead.sleep();
await worker.sleep();
await pool.close();
await outbound.close();
await database.drop();
await rm(folder, { recursive: true });
finish(
  'background',
  [
    { figure: 'tasks_at_once', value: atOnce, atLeast: TASKS },
    { figure: 'answer_against_quiet', value: median(loaded) / median(quiet), atMost: 2 },
  ],
  { quiet_ms: median(quiet), loaded_ms: median(loaded), loaded_p95_ms: p95(loaded) },
);
