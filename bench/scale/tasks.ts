import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '@troupe/db';
import { newId, systemClock } from '@troupe/kernel';
import { createRoster } from '@troupe/roster';
import { testDatabase } from '@troupe/testing/database/server';
import { addUser } from '@troupe/testing/services/users';
import { startService, type Service } from '../lib/child.ts';
import { finish, printTable } from '../lib/report.ts';
import { from, KEY, main, makeAgents, secondsBelow, secondsOf, SETTINGS, statOf } from './setup.ts';

/** Tasks that fall due at one moment, with answers that take 5 s, on three backends that have been at work before. */

const BACKENDS = 3;
const TASKS = 300;
const USERS = 30;
const ANSWER_MS = 5_000;
const MOST_MS = 120_000;
/** Conversations at each backend before it begins. */
const WARM = 20;

async function addTasks(db: Database): Promise<void> {
  const { of } = createRoster({ db, clock: systemClock, sealKey: SETTINGS.WALLET_ENCRYPTION_KEY });
  for (let user = 0; user < USERS; user += 1) {
    const { id: userId } = await addUser({ db }, { plan: 'network' });
    const id = newId();
    const agent = { id, userId, name: 'A', plan: 'network', status: 'running', model: 'openai/gpt-4o-mini' } as const;
    await of(userId).add([agent], Infinity);
    await sql`insert into scheduled_tasks
        (id, user_id, agent_id, name, cron_schedule, prompt, enabled, next_run, created_at, updated_at)
      select ${id} || n, ${userId}, ${id}, 'T', '0 0 29 2 *', 'go ' || n, true, now(), now(), now()
      from generate_series(1, ${TASKS / USERS}) n`.execute(db.system);
  }
}

/** What is loaded at first use is loaded, and connections are there. */
async function warm(backend: string): Promise<void> {
  const ask = async (n: number): Promise<void> => {
    const answer = await fetch(`${backend}/api/runtime/proxy/warm-${n}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, ...from(n * 4), 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Say something.' }], user: backend }),
    });
    if (!answer.ok) throw new Error(`no answer: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  await Promise.all(Array.from({ length: WARM }, (_, n) => ask(n)));
}

interface Done {
  done: number;
  failed: number;
  seconds: number;
  /** Until the last had begun. */
  begun: number;
  /** What one of those that failed says. */
  error: string | null;
}

/** From the first that was taken to the last that ended; when it was taken is up to the poll. */
async function look(db: Database): Promise<Done> {
  const { rows } = await sql<Done>`select
      (count(*) filter (where status = 'succeeded'))::int as done,
      (count(*) filter (where status in ('failed', 'skipped')))::int as failed,
      coalesce(extract(epoch from max(finished_at) - min(started_at)), 0)::float8 as seconds,
      coalesce(extract(epoch from max(started_at) - min(started_at)), 0)::float8 as begun, max(error) as error
    from task_runs`.execute(db.system);
  return rows[0]!;
}

export async function benchTasks(): Promise<void> {
  const database = await testDatabase();
  const model = await startService(new URL('../ai/upstream.ts', import.meta.url), { MODEL_MS: `${ANSWER_MS}` });
  const env = {
    ...SETTINGS,
    DATABASE_URL: database.url,
    OPENROUTER_BASE_URL: `${model.address}/v1`,
    BACKEND_PORT: '0',
  };
  const backends: Service[] = [];
  try {
    for (let n = 0; n < BACKENDS; n += 1) backends.push(await startService(main('backend'), env));
    await makeAgents(backends[0]!.address, 'warm', WARM);
    await Promise.all(backends.map(({ address }) => warm(address)));
    await addTasks(database.db);
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.db.system);
    const postmaster = Number(statOf(rows[0]!.pid)[1]);
    const used = () => ({
      backends: backends.reduce((sum, { pid }) => sum + secondsOf(pid), 0),
      database: secondsBelow(postmaster),
    });
    const before = used();
    const began = performance.now();
    let found = await look(database.db);
    while (found.done + found.failed < TASKS && performance.now() - began < MOST_MS) {
      await delay(100);
      found = await look(database.db);
    }
    const after = used();
    printTable(
      `${TASKS} tasks of ${USERS} people, due at once, answers of ${ANSWER_MS / 1000} s, ${BACKENDS} backends`,
      [
        {
          done: found.done,
          failed: found.failed,
          'seconds until all had begun': found.begun,
          seconds: found.seconds,
          'seconds with the poll': (performance.now() - began) / 1000,
          'backends processor s': after.backends - before.backends,
          'database processor s': after.database - before.database,
        },
      ],
    );
    if (found.error !== null) console.error(found.error);
    finish('scale tasks', [
      { figure: 'tasks_done', value: found.done, atLeast: TASKS },
      { figure: 'tasks_begun_seconds', value: found.begun, atMost: ANSWER_MS / 1000 },
      { figure: 'tasks_seconds', value: found.seconds, atMost: 12 },
    ]);
  } finally {
    for (const backend of backends) await backend.stop();
    await model.stop();
    await database.drop();
  }
}
