import { join } from 'node:path';
import pg from 'pg';

const DAYS = 30;
const TOOLS: [name: string, share: number, ms: number][] = [
  ['read_file', 0.9, 6],
  ['search_memories', 0.7, 9],
  ['write_file', 0.45, 8],
  ['transfer_task', 0.25, 4200],
  ['shell', 0.2, 640],
  ['fetch', 0.15, 820],
];

export interface Worker {
  id: string;
  model: string;
  /** Calls on an ordinary day. */
  calls: number;
  inputRate: number;
  outputRate: number;
}

/** The same numbers in every run: pictures that differ only where the pages do. */
const wave = (seed: number) => 0.55 + 0.45 * Math.sin(seed * 1.7) * Math.cos(seed * 0.6 + 1);

/** A month of work that did not happen: usage and task runs of the days before today. */
export async function writeHistory(
  dataDir: string,
  userId: string,
  workers: Worker[],
  taskIds: string[],
): Promise<void> {
  const database = new pg.Client({ host: join(dataDir, 'run'), user: 'troupe', database: 'troupe', port: 5432 });
  await database.connect();
  try {
    for (const [index, worker] of workers.entries()) await writeUsage(database, userId, worker, index);
    for (const taskId of taskIds) await writeRuns(database, userId, taskId);
    await database.query(`update agents set created_at = now() - interval '34 days' where user_id = $1`, [userId]);
  } finally {
    await database.end();
  }
}

async function writeUsage(database: pg.Client, userId: string, worker: Worker, index: number): Promise<void> {
  for (let back = 1; back < DAYS; back += 1) {
    const weekend = [0, 6].includes(new Date(Date.now() - back * 86_400_000).getUTCDay()) ? 0.35 : 1;
    const calls = Math.round(worker.calls * weekend * (0.6 + wave(back + index * 5)));
    if (calls === 0) continue;
    const [input, output] = [calls * 2400, calls * 310];
    const micros = Math.round(input * worker.inputRate + output * worker.outputRate);
    await database.query(
      `insert into usage_daily (user_id, day, agent_id, model, provider, calls, failures, input_tokens, output_tokens, cost_micros, latency_ms)
       values ($1, current_date - $2::int, $3, $4, 'openrouter', $5, $6, $7, $8, $9, $10) on conflict do nothing`,
      [userId, back, worker.id, worker.model, calls, Math.floor(calls / 90), input, output, micros, calls * 1350],
    );
    for (const [tool, share, ms] of TOOLS) {
      const used = Math.round(calls * share * 0.5);
      if (used === 0) continue;
      await database.query(
        `insert into usage_tools_daily (user_id, day, agent_id, tool_name, calls, successes, duration_ms)
         values ($1, current_date - $2::int, $3, $4, $5, $6, $7) on conflict do nothing`,
        [userId, back, worker.id, tool, used, used - (tool === 'fetch' ? Math.floor(used / 9) : 0), used * ms],
      );
    }
  }
}

const OUTPUT = 'Two singles are ready, one master is missing. 3 mails need an answer. Nothing is over budget.';

async function writeRuns(database: pg.Client, userId: string, taskId: string): Promise<void> {
  for (let back = 1; back <= 12; back += 1) {
    const failed = back === 5;
    await database.query(
      `insert into task_runs (id, task_id, user_id, due_at, status, started_at, finished_at, output, error)
       select $1, $2, $3, due, $5, due + interval '1 second', due + interval '7 seconds', $6, $7
       from (select date_trunc('day', now()) - $4 * interval '1 day' + interval '8 hours' as due) as one
       on conflict do nothing`,
      [
        `run_${taskId}_${back}`,
        taskId,
        userId,
        back,
        failed ? 'failed' : 'succeeded',
        failed ? null : OUTPUT,
        failed ? 'The model did not answer within 120 s' : null,
      ],
    );
  }
  await database.query(
    `update scheduled_tasks set last_run = (select max(started_at) from task_runs where task_id = $1) where id = $1`,
    [taskId],
  );
}
