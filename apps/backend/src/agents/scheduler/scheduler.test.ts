import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Runtime } from '@troupe/db';
import { testRuntime } from '@troupe/testing/database/runtime';
import { testUser } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { createScheduler, type SchedulerDeps, type Wake } from './service.ts';

let runtime: Runtime;
before(async () => {
  runtime = await testRuntime();
  await testUser(runtime.db, 'u');
});
after(() => runtime.close());
beforeEach(() => sql`delete from scheduled_tasks`.execute(runtime.db.system));

const NOW = new Date('2026-06-01T12:00:00Z');

async function addTask(id: string, { cron = '0 * * * *', due = NOW, enabled = true, user = 'u' } = {}) {
  await sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, prompt, enabled, next_run, created_at, updated_at)
    values (${id}, ${user}, 'agent', ${id}, ${cron}, 'go', ${enabled}, ${due}, now(), now())`.execute(
    runtime.db.system,
  );
}

const receipts = async (id: string) =>
  (
    await runtime.db.system.selectFrom('task_runs').selectAll().where('task_id', '=', id).orderBy('due_at').execute()
  ).map(({ due_at, status, occurrences, output, error }) => ({
    due: due_at.toISOString(),
    status,
    occurrences,
    output,
    error,
  }));

const taskOf = (id: string) =>
  runtime.db.system.selectFrom('scheduled_tasks').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

const answering = (execute: Wake['execute']): Wake => ({ execute, heartbeat: async () => {} });

function scheduler({
  now = NOW,
  execute = async () => 'done',
  ...rest
}: Partial<SchedulerDeps> & { now?: Date; execute?: Wake['execute'] } = {}) {
  return createScheduler({ db: runtime.db, log: runtime.log, clock: () => now, wake: answering(execute), ...rest });
}

test('a due task runs once, is told, and comes again at its next time', async () => {
  await addTask('t');
  await addTask('later', { due: new Date('2026-06-01T12:00:01Z') });
  await addTask('off', { enabled: false });
  assert.equal(await scheduler().cycle(), 1);
  assert.deepEqual(await receipts('t'), [
    { due: NOW.toISOString(), status: 'succeeded', occurrences: 1, output: 'done', error: null },
  ]);
  const { last_run, next_run } = await taskOf('t');
  assert.deepEqual([last_run, next_run], [NOW, new Date('2026-06-01T13:00:00Z')]);
  assert.equal(await scheduler().cycle(), 0);
});

test('ten tasks a cycle', async () => {
  for (let n = 0; n < 12; n += 1) await addTask(`t${n}`);
  const one = scheduler();
  assert.deepEqual([await one.cycle(), await one.cycle(), await one.cycle()], [10, 2, 0]);
});

test('occurrences missed while nothing ran run once, late, and the receipt says how many they were', async () => {
  await addTask('t', { due: new Date('2026-06-01T02:00:00Z') });
  await scheduler().cycle();
  assert.deepEqual(
    (await receipts('t')).map(({ occurrences }) => occurrences),
    [11],
  );
  assert.deepEqual((await taskOf('t')).next_run, new Date('2026-06-01T13:00:00Z'));
});

test('every second runs at most once a poll', async () => {
  await addTask('t', { cron: '* * * * * *', due: new Date('2026-06-01T11:59:31Z') });
  await scheduler().cycle();
  assert.deepEqual(
    (await receipts('t')).map(({ occurrences }) => occurrences),
    [30],
  );
});

test('a run that is still going on is not started again: the occurrence is skipped, and says why', async () => {
  await addTask('t');
  const answer = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  const first = scheduler({
    execute: () => {
      started.resolve();
      return answer.promise;
    },
  }).cycle();
  await started.promise;
  let again = 0;
  await scheduler({ now: new Date(NOW.getTime() + 30_000), execute: async () => `${(again += 1)}` }).cycle();
  await sql`update scheduled_tasks set next_run = ${new Date(NOW.getTime() + 40_000)}`.execute(runtime.db.system);
  await scheduler({ now: new Date(NOW.getTime() + 45_000), execute: async () => `${(again += 1)}` }).cycle();
  answer.resolve('slow');
  await first;
  assert.equal(again, 0);
  assert.deepEqual(
    (await receipts('t')).map(({ status, error }) => [status, error]),
    [
      ['succeeded', null],
      ['skipped', 'The run before was still going on'],
    ],
  );
});

test('failures keep their reason, and the third in a row is told to the owner once', async () => {
  await addTask('t');
  const failing = async () => {
    throw new Error('Agent is stopped');
  };
  for (let hour = 0; hour < 5; hour += 1)
    await scheduler({ now: new Date(NOW.getTime() + hour * 3_600_000), execute: failing }).cycle();
  const all = await receipts('t');
  assert.equal(all.length, 5);
  assert.ok(all.every(({ status, error }) => status === 'failed' && error === 'Agent is stopped'));
  const told = await runtime.db.system.selectFrom('notices').selectAll().where('subject', '=', 't').execute();
  assert.deepEqual(
    told.map(({ kind, message }) => [kind, message]),
    [['task_failing', 'The task t failed 3 times in a row: Agent is stopped']],
  );
});

test('an agent that does not answer in time is a failure that says so', async () => {
  await addTask('t');
  const hang: Wake['execute'] = (_agent, _task, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  await scheduler({ execute: hang, requestMs: 20 }).cycle();
  assert.deepEqual(
    (await receipts('t')).map(({ error }) => error),
    ['No answer within 0.02 s'],
  );
});

test('a run whose process ended is closed as failed and does not run again', async () => {
  await addTask('t', { due: new Date('2026-06-01T13:00:00Z') });
  await sql`insert into task_runs (id, task_id, user_id, due_at, status, started_at, lease_until)
    values ('r', 't', 'u', ${NOW}, 'running', ${NOW}, ${new Date(NOW.getTime() - 1)})`.execute(runtime.db.system);
  assert.equal(await scheduler().cycle(), 0);
  assert.deepEqual(
    (await receipts('t')).map(({ status, error }) => [status, error]),
    [['failed', 'Interrupted: the process that ran it ended']],
  );
});

describe('a run whose process ended, and whose agent went on,', () => {
  const started = new Date(NOW.getTime() - 120_000);
  before(() =>
    sql`insert into agents (id, user_id, name) values ('agent', 'u', 'A') on conflict do nothing`.execute(
      runtime.db.system,
    ),
  );

  /** The receipt, and the log of the agent that was asked for it. */
  async function interrupted(status: string, events: object[]): Promise<void> {
    const { system } = runtime.db;
    await addTask('t', { due: new Date('2026-06-01T13:00:00Z') });
    await sql`delete from agent_sessions where agent_id = 'agent'`.execute(system);
    await sql`insert into task_runs (id, task_id, user_id, due_at, status, started_at, lease_until)
      values ('r', 't', 'u', ${NOW}, 'running', ${started}, ${new Date(NOW.getTime() - 1)})`.execute(system);
    await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, status, last_seq)
      values ('s', 'agent', 'u', 'task', 't:r', ${status}, ${events.length})`.execute(system);
    for (const [index, event] of events.entries())
      await sql`insert into agent_events (session_id, seq, agent_id, user_id, data)
        values ('s', ${index + 1}, 'agent', 'u', ${JSON.stringify(event)}::jsonb)`.execute(system);
  }
  const said = { type: 'assistant', content: 'All is well.', toolCalls: [], saw: 1 };
  const outcomes = async () => (await receipts('t')).map(({ status, output, error }) => [status, output, error]);

  test('says what the agent said', async () => {
    await interrupted('idle', [{ type: 'user', content: 'go' }, said, { type: 'run_ended', outcome: 'done' }]);
    assert.equal(await scheduler().cycle(), 0);
    assert.deepEqual(await outcomes(), [['succeeded', 'All is well.', null]]);
  });

  test('says why the agent ended it', async () => {
    const ended = { type: 'run_ended', outcome: 'limit', reason: 'No tokens are left.' };
    await interrupted('idle', [{ type: 'user', content: 'go' }, said, ended]);
    await scheduler().cycle();
    assert.deepEqual(await outcomes(), [['failed', null, 'No tokens are left.']]);
  });

  test('waits for an agent that is still at it, but not for ever', async () => {
    await interrupted('open', [{ type: 'user', content: 'go' }]);
    await scheduler().cycle();
    assert.deepEqual(await outcomes(), [['running', null, null]]);
    await scheduler({ now: new Date(started.getTime() + 600_000) }).cycle();
    assert.deepEqual(await outcomes(), [['failed', null, 'Interrupted: the process that ran it ended']]);
  });
});

test('a clock that was set back runs nothing twice', async () => {
  await addTask('t');
  await scheduler().cycle();
  assert.equal(await scheduler({ now: new Date(NOW.getTime() - 3_600_000) }).cycle(), 0);
  await scheduler({ now: new Date(NOW.getTime() + 3_600_000) }).cycle();
  assert.equal((await receipts('t')).length, 2);
});

test('two schedulers at once take each task once', async () => {
  for (let n = 0; n < 20; n += 1) await addTask(`t${n}`);
  const ran: string[] = [];
  const execute: Wake['execute'] = async (_agent, task) => {
    ran.push(task.id);
    return '';
  };
  const [a, b, c] = [scheduler({ execute }), scheduler({ execute }), scheduler({ execute })];
  await Promise.all([a.cycle(), b.cycle(), c.cycle()]);
  await Promise.all([a.cycle(), b.cycle(), c.cycle()]);
  assert.equal(ran.length, 20);
  assert.equal(new Set(ran).size, 20);
});

test('a due heartbeat wakes its agent and is due again after its interval', async () => {
  await sql`insert into agents (id, user_id, name) values ('hb', 'u', 'A')`.execute(runtime.db.system);
  await sql`insert into heartbeats (agent_id, user_id, frequency, seconds, enabled, next_heartbeat) values ('hb', 'u', '3h', 10800, true, ${NOW})`.execute(
    runtime.db.system,
  );
  const woken: string[] = [];
  const wake: Wake = { execute: async () => '', heartbeat: async ({ id }) => void woken.push(id) };
  const one = scheduler({ wake });
  await one.cycle();
  await one.cycle();
  assert.deepEqual(woken, ['hb']);
  const row = await runtime.db.system.selectFrom('heartbeats').selectAll().executeTakeFirstOrThrow();
  assert.deepEqual([row.last_heartbeat, row.next_heartbeat], [NOW, new Date(NOW.getTime() + 10_800_000)]);
});

test('while the database is gone nothing is lost: the next poll goes on', async () => {
  await addTask('t');
  let gone = 3;
  const failing = {
    ...runtime.db,
    asSystem: ((work: never) =>
      gone-- > 0 ? Promise.reject(new Error('gone')) : runtime.db.asSystem(work)) as typeof runtime.db.asSystem,
  };
  const ran = Promise.withResolvers<string>();
  const one = scheduler({
    db: failing,
    pollMs: 5,
    execute: async (_agent, task) => {
      ran.resolve(task.id);
      return 'done';
    },
  });
  one.start();
  assert.equal(await ran.promise, 't');
  await one.close();
  assert.deepEqual(
    (await receipts('t')).map(({ status }) => status),
    ['succeeded'],
  );
});

test('closing does not wait for an agent that does not answer, and the receipt says why', async () => {
  await addTask('t');
  const asked = Promise.withResolvers<void>();
  const one = scheduler({
    closeMs: 20,
    execute: (_agent, _task, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        asked.resolve();
      }),
  });
  one.start();
  await asked.promise;
  await one.close();
  assert.deepEqual(
    (await receipts('t')).map(({ status, error }) => [status, error]),
    [['failed', 'Interrupted: the platform was stopped']],
  );
});

test('closing ends the loop', async () => {
  const one = scheduler();
  one.start();
  await one.close();
});

test(
  'users take turns: the hanging tasks of one leave another’s task its place, at once',
  { timeout: 60_000 },
  async () => {
    await testUser(runtime.db, 'other');
    for (let n = 0; n < 60; n += 1) await addTask(`slow${n}`, { due: new Date(NOW.getTime() - 60_000) });
    await addTask('quick', { user: 'other' });
    const held = Promise.withResolvers<string>();
    const ran = Promise.withResolvers<void>();
    const all = Promise.withResolvers<void>();
    let hanging = 0;
    const one = scheduler({
      pollMs: 600_000,
      execute: (_agent, task) => {
        if (task.id === 'quick') ran.resolve();
        else hanging += 1;
        if (hanging === 60) all.resolve();
        return task.id === 'quick' ? Promise.resolve('done') : held.promise;
      },
    });
    one.start();
    await ran.promise;
    assert.equal(hanging, 10);
    held.resolve('late');
    // No barrier: as one ends the next is taken. The next poll would come only after the deadline.
    await all.promise;
    await one.close();
  },
);

test('sixty tasks of every second that were missed for a day are taken without a pause for others', async () => {
  for (let n = 0; n < 60; n += 1)
    await addTask(`s${n}`, { cron: '* * * * * *', due: new Date(NOW.getTime() - 86_400_000) });
  let longest = 0;
  let last = performance.now();
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  const one = scheduler();
  let taken = 0;
  for (let got = 1; got > 0; taken += got) got = await one.cycle();
  clearInterval(watch);
  assert.equal(taken, 60);
  assert.ok(longest < 1_000, `the loop stood still for ${Math.round(longest)} ms`);
  const { rows } = await sql<{ occurrences: number }>`select distinct occurrences from task_runs`.execute(
    runtime.db.system,
  );
  assert.deepEqual(rows, [{ occurrences: 86_401 }]);
});

test('what a task says is given to the channel that it tells on, once, for whoever wrote there last', async () => {
  const { system } = runtime.db;
  await system.insertInto('agents').values({ id: 'teller', user_id: 'u', name: 'Teller' }).execute();
  const tells = (id: string) =>
    sql`update scheduled_tasks set tells = 'telegram', agent_id = 'teller' where id = ${id}`.execute(system);
  await addTask('early');
  await tells('early');
  await scheduler().cycle();
  assert.deepEqual(
    (await receipts('early')).map(({ status, error }) => [status, error]),
    [['succeeded', 'Not told on telegram: nobody has written to the agent there yet']],
  );
  await sql`insert into agent_channel_messages (agent_id, user_id, channel, id, chat, sender, content, state, received_at)
    values ('teller', 'u', 'telegram', '1', 'old', 'x', '{}', 'answered', now() - interval '2 hours'),
      ('teller', 'u', 'telegram', '2', '7:5', 'ann', '{"extra": {"chat": "7", "reply": "3", "thread": "5"}}', 'answered', now() - interval '1 hour'),
      ('teller', 'u', 'telegram', '3', 'stranger', 'y', '{}', 'ignored', now())`.execute(system);
  await addTask('t');
  await tells('t');
  await scheduler({ execute: async () => 'two things are new' }).cycle();
  const { rows } = await sql`select chat, sender, content, state from agent_channel_messages
    where agent_id = 'teller' and id like 'task:%'`.execute(system);
  const content = { text: '', words: 'two things are new', extra: { chat: '7', thread: '5' } };
  assert.deepEqual(rows, [{ chat: '7:5', sender: 'ann', content, state: 'waiting' }]);
});
