import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createStandIn, replyChat } from '@troupe/ai';
import { createBackend, createScheduler } from '@troupe/backend';
import { testRuntime } from '@troupe/testing/database/runtime';
import { testUser } from '@troupe/testing/database/server';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { sql } from 'kysely';
import { finish, printTable } from './lib/report.ts';

/**
 * 24 hours in the life of a platform, on a clock that is moved by hand: heartbeats of many agents, tasks of some. Memory must
 * stay flat, and the model must hear of tasks and of nothing else. Also how large the default prompt is.
 */

const AGENTS = 60;
const TASKED = 10;
const HOUR = 3_600_000;
const POLL = 60_000;
const BEGIN = Date.parse('2026-03-01T00:00:00Z');
const PROMPT = 'An hour has passed.';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const provider = await createStandIn((request, response) => replyChat(request, response, { content: 'ok' }));
const runtime = await testRuntime({ OPENROUTER_API_KEY: 'bench', OPENROUTER_BASE_URL: provider.url });
const { db, log } = runtime;
const past = () => new Date(BEGIN - 24 * HOUR);
const backend = await createBackend({ ...runtime, clock: past, url: 'http://127.0.0.1:3001', version: 'bench' });
const base = await backend.server.listen(0, 'BACKEND_PORT');
let now = new Date(BEGIN);

/** Each call for another end user: limits hold by the real clock, and here a day takes a minute. */
let callers = 0;
async function call(path: string, body: object): Promise<{ output?: string }> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TEST_SECRETS.internalKey}`,
      'content-type': 'application/json',
      'x-client-ip': `caller-${(callers += 1)}`,
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { output?: string };
}

let beats = 0;
const scheduler = createScheduler({
  db,
  log,
  clock: () => now,
  wake: {
    execute: async ({ id }, { id: taskId, prompt }) =>
      (await call(`/api/runtime/proxy/${id}/execute`, { taskId, prompt })).output ?? '',
    heartbeat: async ({ id }) => {
      await call(`/api/runtime/proxy/${id}/heartbeat`, {});
      beats += 1;
    },
  },
});

async function populate(): Promise<void> {
  await testUser(db, 'bench');
  for (let n = 0; n < AGENTS; n += 1) {
    const agentId = `day-${n}`;
    await call('/api/deployments', { agentId, config: { name: `Agent ${n}`, plan: 'solo' } });
    const first = new Date(BEGIN + (n * HOUR) / 2 / AGENTS);
    await sql`insert into heartbeats (agent_id, user_id, frequency, seconds, enabled, next_heartbeat)
      select id, user_id, '30m', 1800, true, ${first} from agents where id = ${agentId}`.execute(db.system);
    if (n >= TASKED) continue;
    await sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, prompt, enabled, next_run, created_at, updated_at)
      select 'task-' || id, user_id, id, 'Hourly', '0 * * * *', ${PROMPT}, true, ${new Date(BEGIN + HOUR)}, now(), now()
      from agents where id = ${agentId}`.execute(db.system);
  }
}

let calls = 0;
let others = 0;
let promptBytes = 0;
function countCalls(): void {
  for (const { path, body } of provider.requests.splice(0)) {
    if (!path.endsWith('/chat/completions')) continue;
    const messages = body['messages'] as { role: string; content: string }[];
    calls += 1;
    if (messages.at(-1)?.content !== PROMPT) others += 1;
    promptBytes = Math.max(promptBytes, Buffer.byteLength(messages[0]?.role === 'system' ? messages[0].content : ''));
  }
}

function memory(): number {
  for (let times = 0; times < 3; times += 1) collect();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

try {
  await populate();
  const rows: { hour: number; 'heap MB': number; beats: number; 'model calls': number }[] = [];
  for (let hour = 1; hour <= 24; hour += 1) {
    for (let passed = 0; passed < HOUR; passed += POLL) {
      now = new Date(now.getTime() + POLL);
      while ((await scheduler.cycle()) > 0);
    }
    countCalls();
    if (hour % 6 === 0) rows.push({ hour, 'heap MB': memory(), beats, 'model calls': calls });
  }
  printTable(`${AGENTS} agents with a heartbeat each half hour, ${TASKED} of them with a task each hour`, rows);
  finish('day', [
    { figure: 'memory_growth', value: rows.at(-1)!['heap MB'] / rows[0]!['heap MB'], atMost: 1.1 },
    { figure: 'idle_model_calls', value: others, atMost: 0 },
    { figure: 'task_model_calls', value: calls - others, atLeast: TASKED * 24, atMost: TASKED * 24 },
    { figure: 'beats', value: beats, atLeast: AGENTS * 48 },
    { figure: 'prompt_bytes', value: promptBytes, atMost: 1536 },
  ]);
} finally {
  await backend.close();
  await runtime.close();
  await provider.close();
}
