import { testDatabase } from '@troupe/db';
import { createQueries, createWriter } from '@troupe/usage';
import { silentLog, systemClock } from '@troupe/kernel';
import { sql } from 'kysely';
import { finish, printTable, type Row } from './lib/report.ts';

/**
 * Questions about 30 days over millions of recorded calls. One user made a tenth of them, with 50 agents of two models each;
 * the others are spread over 5,000 users. BENCH_ROWS: how many calls.
 */

const ROWS = Number(process.env['BENCH_ROWS'] ?? 5_000_000);
const PART = 100_000;
const RUNS = 40;

const { db, drop } = await testDatabase();

/** Rows as the writer would have left them: the log, and its sums by day. */
async function fill(): Promise<void> {
  for (let start = 0; start < ROWS; start += PART) {
    await sql`
      insert into usage_logs (user_id, agent_id, run_id, model, provider, input_tokens, output_tokens, cost_micros,
        latency_ms, success, estimated, created_at)
      select case when n % 10 = 0 then 'heavy' else 'user-' || n % 5000 end, 'agent-' || (n / 10) % 50, null,
        'vendor/model-' || ((n / 10) % 50 + (n / 500) % 2) % 8, 'openrouter', 500 + n % 1000, 100 + n % 300, 200 + n % 5000, 300, n % 50 <> 0,
        false, now() - (n % 5184000) * interval '1 second'
      from generate_series(${start}::int, ${Math.min(start + PART, ROWS) - 1}::int) as n`.execute(db.system);
  }
  const { rows } = await sql<{ day: string }>`
    select distinct (created_at at time zone 'UTC')::date as day from usage_logs`.execute(db.system);
  for (const { day } of rows) {
    await sql`
      insert into usage_daily (user_id, day, agent_id, model, provider, calls, failures, input_tokens, output_tokens,
        cost_micros, latency_ms)
      select user_id, ${day}::date, agent_id, model, provider, count(*), count(*) filter (where not success),
        sum(input_tokens), sum(output_tokens), sum(cost_micros), sum(latency_ms)
      from usage_logs where created_at >= ${day}::date::timestamp at time zone 'UTC'
        and created_at < (${day}::date + 1)::timestamp at time zone 'UTC'
      group by 1, 2, 3, 4, 5`.execute(db.system);
  }
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
  const queries = createQueries({ db, clock: systemClock });
  const monthAgo = new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10);
  const questions: Record<string, () => Promise<unknown>> = {
    summary: () => queries.summary('heavy', 30),
    'by agent': () => queries.byAgent('heavy', 'agent-7', 30),
    'by model': () => queries.byModel('heavy', 30),
    daily: () => queries.daily('heavy', 30),
    'cost dashboard': () => queries.cost('heavy', monthAgo),
  };
  const rows: (Row & { 'median ms': number; 'worst ms': number })[] = [];
  for (const [question, work] of Object.entries(questions)) {
    const { median, worst } = await timed(work);
    rows.push({ question, 'median ms': median, 'worst ms': worst });
  }
  printTable(`30 days of the busiest user, over ${ROWS} calls`, rows);
  const { microseconds, perSecond } = await recording();
  finish(
    'usage',
    [{ figure: 'slowest_median_ms', value: Math.max(...rows.map((row) => row['median ms'])), atMost: 50 }],
    { rows: ROWS, record_us: microseconds, recorded_per_second: perSecond },
  );
} finally {
  await drop();
}
