import { testDatabase } from '@troupe/testing/database/server';
import { createQueries, createWriter } from '@troupe/usage';
import { randomHex, sha256Hex, silentLog, systemClock } from '@troupe/kernel';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { startService } from './lib/child.ts';
import { peer } from './lib/peers.ts';
import { finish, printTable, type Row } from './lib/report.ts';

/**
 * Questions about 30 days over millions of recorded calls: who made a call, with which agent and model, and when in the last
 * 60 days is random for each. A tenth is one user's, with 50 agents that all use all of eight models; the others are spread over
 * 5,000 users. The target is for the queries; what a client waits for over HTTP is measured beside it. BENCH_ROWS: how many calls.
 */

const ROWS = Number(process.env['BENCH_ROWS'] ?? 5_000_000);
const PART = 100_000;
const RUNS = 40;
const DAYS = 60;
const ROLL_UP_DAYS = 5;

const { db, url, drop } = await testDatabase();

/** Rows as the writer would have left them: the log, and its sums by day. */
async function fill(): Promise<void> {
  const parts = Array.from({ length: Math.ceil(ROWS / PART) }, (_, part) => part * PART);
  const fillParts = async () => {
    for (let start = parts.pop(); start !== undefined; start = parts.pop()) await fillLog(start);
  };
  await Promise.all([fillParts(), fillParts()]);
  for (let day = 0; day <= DAYS; day += ROLL_UP_DAYS) await rollUp(day, day + ROLL_UP_DAYS);
  await vacuum();
}

/** As the server does by itself after every hundredth of new rows; again while somebody's older look at the data keeps it from it. */
async function vacuum(): Promise<void> {
  const { default: pg } = await peer<{ default: typeof import('pg') }>('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (let tries = 0; tries < 10; tries += 1) {
    await client.query('vacuum analyze usage_daily');
    const { rows } = await client.query<{ done: boolean }>(
      "select relallvisible >= relpages * 0.99 as done from pg_class where relname = 'usage_daily'",
    );
    if (rows[0]?.done) break;
    await delay(1_000);
  }
  await client.end();
}

async function fillLog(start: number): Promise<void> {
  await sql`
    insert into usage_logs (user_id, agent_id, run_id, model, provider, input_tokens, output_tokens, cost_micros,
      latency_ms, success, estimated, created_at)
    select case when random() < 0.1 then 'heavy' else 'user-' || floor(random() * 5000) end,
      'agent-' || floor(random() * 50), null, 'vendor/model-' || floor(random() * 8), 'openrouter',
      500 + n % 1000, 100 + n % 300, 200 + n % 5000, 300, n % 50 <> 0, false,
      now() - random() * ${DAYS}::int * interval '1 day'
    from generate_series(${start}::int, ${Math.min(start + PART, ROWS) - 1}::int) as n`.execute(db.system);
}

/** Day after day, and in no order within a day: as rows are when calls made them one after the other. */
async function rollUp(from: number, to: number): Promise<void> {
  await sql`
    insert into usage_daily (user_id, day, agent_id, model, provider, calls, failures, input_tokens, output_tokens,
      cost_micros, latency_ms)
    select user_id, (created_at at time zone 'UTC')::date as day, agent_id, model, provider, count(*),
      count(*) filter (where not success), sum(input_tokens), sum(output_tokens), sum(cost_micros), sum(latency_ms)
    from usage_logs
    where created_at >= date_trunc('day', now(), 'UTC') - (${DAYS}::int - ${from}::int) * interval '1 day'
      and created_at < date_trunc('day', now(), 'UTC') - (${DAYS}::int - ${to}::int) * interval '1 day'
    group by 1, 2, 3, 4, 5 order by day, random()`.execute(db.system);
}

async function addKey(id: string): Promise<string> {
  const [key, now] = [`sk_${randomHex(32)}`, new Date()];
  const dates = { created_at: now, updated_at: now };
  await db.system
    .insertInto('users')
    .values({ id, email: `${id}@example.com`, name: id, referral_code: id, ...dates })
    .execute();
  await db.system
    .insertInto('api_keys')
    .values({ id, user_id: id, name: 'bench', preview: 'sk_…', key_hash: sha256Hex(key), created_at: now })
    .execute();
  return key;
}

async function timed(work: () => Promise<unknown>): Promise<{ median: number; worst: number }> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  return { median: times[RUNS >> 1]!, worst: times.at(-1)! };
}

/** How long a call is held up by recording it, and how many a second are written. */
async function recording(): Promise<{ microseconds: number; perSecond: number }> {
  const writer = createWriter({ db, log: silentLog, clock: systemClock });
  const count = 20_000;
  const started = performance.now();
  for (let index = 0; index < count; index += 1) {
    writer.record({
      userId: `user-${index % 100}`,
      agentId: `agent-${index % 20}`,
      runId: undefined,
      model: 'vendor/model-1',
      provider: 'openrouter',
      inputTokens: 500,
      outputTokens: 100,
      costMicros: 300,
      latencyMs: 20,
      success: true,
      estimated: false,
    });
  }
  const held = performance.now() - started;
  await writer.close();
  return { microseconds: (held / count) * 1000, perSecond: count / ((performance.now() - started) / 1000) };
}

try {
  const began = performance.now();
  await fill();
  console.log(`${ROWS} calls filled in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  const web = await startService(new URL('./session/ours.ts', import.meta.url), { DATABASE_URL: url });
  const key = await addKey('heavy');
  const ask = (path: string) => async () => {
    const response = await fetch(web.address + path, { headers: { authorization: `Bearer ${key}` } });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    return text;
  };
  const queries = createQueries({ db, clock: systemClock });
  const monthAgo = new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10);
  const questions: Record<string, [query: () => Promise<unknown>, overHttp: () => Promise<string>]> = {
    summary: [() => queries.summary('heavy', 30), ask('/api/usage/summary?days=30')],
    'by agent': [() => queries.byAgent('heavy', 'agent-7', 30), ask('/api/usage/by-agent/agent-7?days=30')],
    'by model': [() => queries.byModel('heavy', 30), ask('/api/usage/by-model?days=30')],
    daily: [() => queries.daily('heavy', 30), ask('/api/usage/daily?days=30')],
    'cost dashboard': [() => queries.cost('heavy', monthAgo), ask('/api/dashboard/cost?period=30d')],
  };
  console.log(`the summary has ${(await queries.summary('heavy', 30)).length} rows`);
  const rows: (Row & { 'median ms': number; 'over HTTP': number })[] = [];
  for (const [question, [query, overHttp]] of Object.entries(questions)) {
    const { median, worst } = await timed(query);
    const http = await timed(overHttp);
    rows.push({
      question,
      'median ms': median,
      'worst ms': worst,
      'over HTTP': http.median,
      'worst over HTTP': http.worst,
    });
  }
  printTable(`30 days of the busiest user, over ${ROWS} calls`, rows);
  await web.stop();
  const { microseconds, perSecond } = await recording();
  finish(
    'usage',
    [{ figure: 'slowest_median_ms', value: Math.max(...rows.map((row) => row['median ms'])), atMost: 50 }],
    {
      rows: ROWS,
      http_slowest_median_ms: Math.max(...rows.map((row) => row['over HTTP'])),
      record_us: microseconds,
      recorded_per_second: perSecond,
    },
  );
} finally {
  await drop();
}
