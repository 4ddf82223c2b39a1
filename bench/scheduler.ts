import { createScheduler } from '@troupe/backend';
import { testDatabase, testUser } from '@troupe/testing/database/server';
import { silentLog } from '@troupe/kernel';
import { sql } from 'kysely';
import { finish, printTable } from './lib/report.ts';
import { median } from './lib/sides.ts';

/** How long a poll takes with 100,000 tasks that fall due over a day: when nothing is due, and when ten are. */

const TASKS = 100_000;
const POLLS = 100;
const POLL_MS = 30_000;

const { db, drop } = await testDatabase();
await testUser(db, 'bench');
const begin = new Date('2026-01-01T00:00:00Z');
await sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, prompt, enabled, next_run, created_at, updated_at)
  select 't' || n, 'bench', 'agent', 'T', '0 0 29 2 *', 'go', true,
    ${begin}::timestamptz + interval '1 day' + n * interval '864 milliseconds', now(), now()
  from generate_series(1, ${TASKS}) n`.execute(db.system);
await sql`analyze scheduled_tasks`.execute(db.system);

let now = begin;
const scheduler = createScheduler({
  db,
  log: silentLog,
  clock: () => now,
  wake: { execute: async () => 'done', heartbeat: async () => {} },
});

async function polls(from: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < POLLS; n += 1) {
    now = new Date(from + n * POLL_MS);
    const started = performance.now();
    await scheduler.cycle();
    times.push(performance.now() - started);
  }
  return times;
}

await polls(begin.getTime());
const quiet = await polls(begin.getTime());
const busy = await polls(begin.getTime() + 86_400_000 + POLL_MS);
printTable('Milliseconds a poll', [
  { what: 'nothing due', median: median(quiet), worst: Math.max(...quiet) },
  { what: 'ten due, receipts written and closed', median: median(busy), worst: Math.max(...busy) },
]);
await drop();
finish('scheduler', [
  { figure: 'quiet_ms', value: median(quiet), atMost: 50 },
  { figure: 'busy_ms', value: median(busy), atMost: 50 },
]);
