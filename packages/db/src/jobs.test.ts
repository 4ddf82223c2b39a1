import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { z } from 'zod';
import { job, type Job, type JobOptions } from '@troupe/contract';
import { createLog, silentLog } from '@troupe/kernel';
import type { Log } from '@troupe/kernel';
import { createJobs } from './jobs.ts';
import type { JobContext, JobHandler, Jobs, WorkOptions } from './jobs.ts';
import { testDatabase } from '@troupe/testing/database/server';
import type { TestDatabase } from '@troupe/testing/database/server';

let database: TestDatabase;
const running: Jobs[] = [];
let queues = 0;

before(async () => {
  database = await testDatabase();
});
afterEach(async () => {
  for (const jobs of running.splice(0)) await jobs.stop();
});
after(() => database.drop());

async function start(handlers: [Job<Data>, JobHandler<Data>, WorkOptions?][], log: Log = silentLog): Promise<Jobs> {
  const jobs = createJobs({ url: database.url, log, superviseSeconds: 1 });
  for (const handler of handlers) jobs.work(...handler);
  await jobs.start();
  running.push(jobs);
  return jobs;
}

const data = z.object({ n: z.number() });
type Data = z.output<typeof data>;
const newQueue = (options: JobOptions = {}): Job<Data> => job({ queue: `queue-${(queues += 1)}`, data, ...options });

/** A handler whose calls can be waited for. */
function recorder(work: (data: { n: number }, job: JobContext) => Promise<void> = async () => {}) {
  const seen: { n: number; tries: number }[] = [];
  let wake = () => {};
  const handler = async (data: { n: number }, job: JobContext): Promise<void> => {
    seen.push({ n: data.n, tries: job.tries });
    wake();
    await work(data, job);
  };
  const reached = async (count: number): Promise<void> => {
    while (seen.length < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { seen, handler, reached };
}

test('a job runs after the transaction that sent it, a rolled back one never', async () => {
  const { seen, handler, reached } = recorder();
  const queue = newQueue();
  const jobs = await start([[queue, handler]]);
  await assert.rejects(
    database.db.asUser('ann', async (tx) => {
      assert.ok(await jobs.send(tx, queue, { n: 1 }));
      throw new Error('no');
    }),
    /no/,
  );
  await database.db.asUser('ann', async (tx) => void (await jobs.send(tx, queue, { n: 2 })));
  await database.db.asSystem(async (tx) => void (await jobs.send(tx, queue, { n: 3 })));
  await jobs.send(database.db.user('ann'), queue, { n: 4 });
  await jobs.send(database.db.system, queue, { n: 5 });
  await reached(4);
  assert.deepEqual(
    seen.map(({ n }) => n).sort((a, b) => a - b),
    [2, 3, 4, 5],
  );
});

test('sending leaves the scope as it was, and a user cannot touch the queue otherwise', async () => {
  const queue = newQueue();
  const jobs = await start([[queue, recorder().handler]]);
  await database.db.asUser('ann', async (tx) => {
    const who = sql<{ role: string; id: string }>`select current_user as role, app_user_id() as id`;
    assert.deepEqual((await who.execute(tx)).rows, [{ role: 'svc_user', id: 'ann' }]);
    await jobs.send(tx, queue, { n: 1 });
    assert.deepEqual((await who.execute(tx)).rows, [{ role: 'svc_user', id: 'ann' }]);
  });
  await assert.rejects(sql`select * from pgboss.job`.execute(database.db.user('ann')), /permission denied/);
});

test('a failed job is tried again, later each time, and reported when it is dead', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => void lines.push(line) } });
  const { seen, handler, reached } = recorder(() => Promise.reject(new Error('broken')));
  const queue = newQueue({ retryLimit: 1, retryDelaySeconds: 1 });
  const jobs = await start([[queue, handler]], log);
  const id = await jobs.send(database.db.system, queue, { n: 1 });
  await reached(2);
  assert.deepEqual(seen, [
    { n: 1, tries: 0 },
    { n: 1, tries: 1 },
  ]);
  while (!lines.some((line) => line.includes('failed for good')))
    await new Promise((resolve) => setTimeout(resolve, 50));
  const dead = lines.map((line) => JSON.parse(line) as Record<string, unknown>).find(({ level }) => level === 'error');
  assert.deepEqual({ queue: dead?.['queue'], job: dead?.['job'] }, { queue: queue.queue, job: id });
});

test('a queue follows the code, and a start that finds it as it should be leaves it alone', async () => {
  const queue = newQueue({ retryLimit: 1 });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const row = async () => {
    const { rows } = await client.query<{ limit: number; letter: string; at: Date }>(
      'select retry_limit as limit, dead_letter as letter, updated_on as at from pgboss.queue where name = $1',
      [queue.queue],
    );
    return rows[0]!;
  };
  const startWith = async (options: JobOptions) => {
    await start([[{ ...queue, ...options }, recorder().handler]]);
    return row();
  };
  const made = await startWith({});
  assert.deepEqual([made.limit, made.letter], [1, 'dead']);
  assert.deepEqual((await startWith({})).at, made.at);
  const changed = await startWith({ retryLimit: 7 });
  assert.deepEqual([changed.limit, changed.letter], [7, 'dead']);
  assert.ok(changed.at > made.at);
  await client.end();
});

test('a later start is kept', async () => {
  const { seen, handler, reached } = recorder();
  const queue = newQueue();
  const jobs = await start([[queue, handler]]);
  await jobs.send(database.db.system, queue, { n: 1 }, { startAfter: new Date(Date.now() + 3_600_000) });
  await jobs.send(database.db.system, queue, { n: 2 });
  await reached(1);
  assert.deepEqual(seen, [{ n: 2, tries: 0 }]);
});

test('what must be done is tried without end, and kept for years', async () => {
  const queue = newQueue({ untilDone: true });
  const jobs = createJobs({ url: database.url, log: silentLog });
  jobs.define(queue);
  await jobs.start();
  const id = await jobs.send(database.db.system, queue, { n: 1 });
  await jobs.stop();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(
    "select retry_limit > 100000 and keep_until > now() + interval '9 years' as kept from pgboss.job where id = $1",
    [id],
  );
  await client.end();
  assert.deepEqual(rows, [{ kept: true }]);
});

test('one waiting job for each key, where the queue says so', async () => {
  const queue = newQueue({ policy: 'short' });
  const jobs = createJobs({ url: database.url, log: silentLog });
  jobs.define(queue);
  await jobs.start();
  running.push(jobs);
  const send = (key: string) => jobs.send(database.db.system, queue, { n: 1 }, { key });
  assert.ok(await send('a'));
  assert.equal(await send('a'), null);
  assert.ok(await send('b'));
});

test('a job takes the place of those that wait and are about the same', async () => {
  const { seen, handler, reached } = recorder();
  const queue = newQueue();
  const jobs = await start([[queue, handler]]);
  const { system } = database.db;
  const later = { startAfter: 3600 };
  for (let n = 1; n <= 5; n += 1) await jobs.send(system, queue, { n }, { owner: 'ann', about: 'a', ...later });
  await jobs.send(system, queue, { n: 6 }, { owner: 'ann', about: 'b', ...later });
  await jobs.send(system, queue, { n: 7 }, { owner: 'ben', about: 'a', ...later });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const waiting = `select data ->> 'n' as n from pgboss.job where name = $1 order by 1`;
  const { rows } = await client.query(waiting, [queue.queue]);
  await client.end();
  assert.deepEqual(rows, [{ n: '5' }, { n: '6' }, { n: '7' }]);
  await jobs.send(system, queue, { n: 8 }, { owner: 'ann', about: 'a' });
  await reached(1);
  assert.deepEqual(seen, [{ n: 8, tries: 0 }]);
});

test('a stop waits for what runs', async () => {
  let finished = false;
  const { handler, reached } = recorder(async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    finished = true;
  });
  const queue = newQueue();
  const jobs = await start([[queue, handler]]);
  await jobs.send(database.db.system, queue, { n: 1 });
  await reached(1);
  await jobs.stop();
  assert.equal(finished, true);
});

test('what does not end in time is handed back and runs again', async () => {
  const queue = newQueue({ retryDelaySeconds: 1 });
  const stuck = recorder(() => new Promise(() => {}));
  const first = await start([[queue, stuck.handler]]);
  await first.send(database.db.system, queue, { n: 1 });
  await stuck.reached(1);
  await first.stop(1_000);
  const second = recorder();
  await start([[queue, second.handler]]);
  await second.reached(1);
  assert.deepEqual(second.seen, [{ n: 1, tries: 1 }]);
});

test('the job of a process that is killed runs in another one', async () => {
  const options = { expireSeconds: 1, retryDelaySeconds: 1 };
  const queue = newQueue(options);
  const folder = await mkdtemp(join(tmpdir(), 'troupe-jobs-'));
  const at = (name: string) => JSON.stringify(join(import.meta.dirname, name));
  await writeFile(
    join(folder, 'worker.mjs'),
    `const { createJobs } = await import(${at('jobs.ts')});
     const { z } = await import(${JSON.stringify(import.meta.resolve('zod'))});
     const { silentLog } = await import(${JSON.stringify(import.meta.resolve('@troupe/kernel'))});
     const jobs = createJobs({ url: ${JSON.stringify(database.url)}, log: silentLog });
     const job = { queue: '${queue.queue}', data: z.object({ n: z.number() }), ...${JSON.stringify(options)} };
     jobs.work(job, () => { process.send('working'); return new Promise(() => {}); });
     await jobs.start();
     process.send('ready');`,
  );
  const worker = fork(join(folder, 'worker.mjs'));
  await once(worker, 'message');
  const sender = createJobs({ url: database.url, log: silentLog });
  sender.define(queue);
  await sender.start();
  running.push(sender);
  await sender.send(database.db.system, queue, { n: 7 });
  await once(worker, 'message');
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  const second = recorder();
  await start([[queue, second.handler]]);
  await second.reached(1);
  assert.deepEqual(second.seen, [{ n: 7, tries: 1 }]);
  await rm(folder, { recursive: true });
});

test('a queue that nobody defined is an error', async () => {
  const jobs = await start([]);
  const nowhere = newQueue();
  await assert.rejects(jobs.send(database.db.system, nowhere, { n: 1 }), new RegExp(`${nowhere.queue} does not exist`));
});

test('few connections', async () => {
  const queue = newQueue();
  await start([[queue, recorder().handler, { concurrency: 5 }]]);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where application_name = 'troupe jobs' and datname = current_database()`,
  );
  await client.end();
  assert.ok((rows[0]?.n ?? 0) <= 4, `${rows[0]?.n} connections`);
});

test('owners take turns: one with many waiting jobs does not hold up another, and each keeps its own order', async () => {
  const queue = newQueue();
  const sender = createJobs({ url: database.url, log: silentLog });
  sender.define(queue);
  await sender.start();
  running.push(sender);
  const post = (owner: string, n: number) => sender.send(database.db.system, queue, { n }, { owner });
  for (let n = 0; n < 6; n += 1) await post('greedy', n);
  for (let n = 10; n < 12; n += 1) await post('other', n);
  await post('greedy', 6);
  const { seen, handler, reached } = recorder();
  await start([[queue, handler, { concurrency: 1 }]]);
  await reached(9);
  assert.deepEqual(
    seen.map(({ n }) => n),
    [0, 10, 1, 11, 2, 3, 4, 5, 6],
  );
});

test('whoever was served before is neither ahead nor behind: turns are counted from those who wait now', async () => {
  const queue = newQueue();
  const { seen, handler, reached } = recorder();
  const held = Promise.withResolvers<void>();
  const jobs = await start([
    [
      queue,
      async (given, context) => {
        await handler(given, context);
        if (given.n === 2) await held.promise;
      },
      { concurrency: 1 },
    ],
  ]);
  const post = (owner: string, n: number) => jobs.send(database.db.system, queue, { n }, { owner });
  await database.db.asSystem(async (tx) => {
    for (let n = 0; n < 6; n += 1) await jobs.send(tx, queue, { n }, { owner: 'greedy' });
  });
  await reached(3);
  // Three of the greedy are waiting, at turns far below those of a beginning.
  await post('other', 10);
  await post('other', 11);
  await post('greedy', 6);
  held.resolve();
  await reached(9);
  assert.deepEqual(
    seen.map(({ n }) => n),
    [0, 1, 2, 3, 10, 4, 11, 5, 6],
  );
});

test('slow jobs of one owner leave a place for the others, and a backlog is worked off without a pause', async () => {
  const queue = newQueue();
  const held = Promise.withResolvers<void>();
  const { seen, handler, reached } = recorder(async ({ n }) => {
    if (n < 10) await held.promise;
  });
  const jobs = await start([[queue, handler, { concurrency: 3 }]]);
  await database.db.asSystem(async (tx) => {
    for (let n = 0; n < 10; n += 1) await jobs.send(tx, queue, { n }, { owner: 'slow' });
    for (let n = 10; n < 40; n += 1) await jobs.send(tx, queue, { n }, { owner: 'quick' });
  });
  const began = performance.now();
  await reached(32);
  assert.ok(performance.now() - began < 5_000, 'the backlog waited for polls');
  assert.equal(seen.filter(({ n }) => n < 10).length, 2);
  held.resolve();
  await reached(40);
});

test('data that does not fit ends its job at once, says why without telling what, and stops nobody', async (t) => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => void lines.push(line) } });
  const { seen, handler, reached } = recorder();
  const queue = newQueue({ untilDone: true });
  const jobs = await start([[queue, handler, { concurrency: 1 }]], log);
  await assert.rejects(jobs.send(database.db.system, queue, { n: 'one' } as never), {
    message: /^The data of a job does not fit queue-\d+: n must be a number$/,
  });

  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  t.after(() => client.end());
  // As a release with another idea of the job, or somebody by hand, would have stored it.
  for (const stored of ['{"n": "a secret"}', '{}', 'null', '[1]'])
    await client.query(
      `insert into pgboss.job (name, data, retry_limit, dead_letter) values ($1, $2, 1000000, 'dead')`,
      [queue.queue, stored],
    );
  await jobs.send(database.db.system, queue, { n: 2 });
  await reached(1);
  assert.deepEqual(seen, [{ n: 2, tries: 0 }]);
  const failed = () =>
    client
      .query<{ why: string }>(
        `select output ->> 'message' as why from pgboss.job where name = $1 and state = 'failed'`,
        [queue.queue],
      )
      .then(({ rows }) => rows.map(({ why }) => why));
  while ((await failed()).length < 4 || !lines.some((line) => line.includes('failed for good')))
    await new Promise((resolve) => setTimeout(resolve, 50));
  for (const why of await failed()) assert.match(why, /^The data of a job does not fit queue-\d+: /);
  assert.doesNotMatch(lines.join(), /a secret/);
});
