import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { testDatabase, testUser } from '@troupe/testing/database/server';
import { putTogether } from '@troupe/testing/processes/together';
import { sql } from 'kysely';

const OCCURRENCES = 2000;
const PROCESSES = 3;
const DEADLINE_MS = 120_000;

let program: Awaited<ReturnType<typeof putTogether>>;
before(async () => {
  program = await putTogether(fileURLToPath(new URL('killed-program.ts', import.meta.url)));
});
after(() => program.remove());

test('schedulers are killed again and again: each due occurrence has one receipt, and none runs twice', async () => {
  const { db, url, drop } = await testDatabase();
  const asked = new Map<string, number>();
  const agent = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (id: string) => asked.set(id, (asked.get(id) ?? 0) + 1));
    request.on('end', () => response.end('ok'));
  }).listen(0, '127.0.0.1');
  await once(agent, 'listening');
  const agentUrl = `http://127.0.0.1:${(agent.address() as AddressInfo).port}`;

  await testUser(db, 'u');
  // Due once: the next occurrence lies years ahead.
  await sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, prompt, enabled, next_run, created_at, updated_at)
    select 't' || n, 'u', 'agent', 'T', '0 0 29 2 *', 'go', true, now() - interval '1 minute', now(), now()
    from generate_series(1, ${OCCURRENCES}) n`.execute(db.system);

  const start = () => spawn(process.execPath, [program.file, url, agentUrl], { stdio: 'inherit' });
  const children: ChildProcess[] = Array.from({ length: PROCESSES }, start);
  const open = async () => {
    const { rows } = await sql<{ open: bigint }>`select (select count(*) from scheduled_tasks where next_run <= now())
      + (select count(*) from task_runs where status = 'running') as open`.execute(db.system);
    return Number(rows[0]!.open);
  };
  const deadline = Date.now() + DEADLINE_MS;
  let kills = 0;
  while ((await open()) > 0) {
    assert.ok(Date.now() < deadline, `${await open()} occurrences are still open`);
    await delay(400);
    const victim = kills % PROCESSES;
    if (kills < 12) {
      children[victim]!.kill('SIGKILL');
      await once(children[victim]!, 'exit');
      children[victim] = start();
      kills += 1;
    }
  }
  for (const child of children) child.kill('SIGKILL');

  const { rows } = await sql<{ task_id: string; receipts: bigint; status: string }>`
    select task_id, count(*) as receipts, min(status) as status from task_runs group by task_id`.execute(db.system);
  assert.equal(rows.length, OCCURRENCES);
  assert.ok(rows.every(({ receipts }) => receipts === 1n));
  assert.ok(
    [...asked.values()].every((times) => times === 1),
    'an occurrence ran twice',
  );
  // What was answered was asked; what was interrupted is told as failed.
  for (const { task_id, status } of rows) if (status === 'succeeded') assert.equal(asked.get(task_id), 1);
  assert.ok(rows.filter(({ status }) => status === 'succeeded').length > OCCURRENCES / 2);
  assert.ok(kills > 0);

  agent.close();
  await drop();
});

const RUNS = 150;

test('schedulers are killed over what arrived: each runs to its end under one id, and its result starts the next once', async () => {
  const { db, url, drop } = await testDatabase();
  const asked = new Set<string>();
  const agent = createServer((request, response) => {
    asked.add(String(request.headers['x-run']));
    // Slow enough that a process is killed over it.
    setTimeout(() => response.end('ok'), 30);
  }).listen(0, '127.0.0.1');
  await once(agent, 'listening');
  const agentUrl = `http://127.0.0.1:${(agent.address() as AddressInfo).port}`;
  await testUser(db, 'u');
  for (const id of ['first', 'then'])
    await sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, prompt, created_at, updated_at)
      select ${id} || n, 'u', 'agent', 'T', '@triggered', 'go', now(), now() from generate_series(1, ${RUNS}) n`.execute(
      db.system,
    );
  await sql`insert into task_triggers (id, task_id, user_id, agent_id, kind, after_task, outcome, created_at)
    select 'trigger' || n, 'then' || n, 'u', 'agent', 'task', 'first' || n, 'succeeded', now()
    from generate_series(1, ${RUNS}) n`.execute(db.system);
  await sql`select task_take_in('first' || n, null, 'api', 'once', 'x', 0) from generate_series(1, ${RUNS}) n`.execute(
    db.system,
  );

  const start = () => spawn(process.execPath, [program.file, url, agentUrl], { stdio: 'inherit' });
  const children: ChildProcess[] = [start(), start()];
  const count = async () => {
    const { rows } = await sql<{ open: bigint; done: bigint }>`select
      count(*) filter (where status in ('waiting', 'running')) as open, count(*) filter (where finished_at is not null) as done
      from task_runs`.execute(db.system);
    return rows[0]!;
  };
  const deadline = Date.now() + DEADLINE_MS;
  let kills = 0;
  for (let { open, done } = await count(); open > 0n; { open, done } = await count()) {
    assert.ok(Date.now() < deadline, `${open} are still open`);
    if (kills < 4 && done > BigInt(kills * 40)) {
      children[kills % 2]!.kill('SIGKILL');
      await once(children[kills % 2]!, 'exit');
      children[kills % 2] = start();
      kills += 1;
    } else await delay(50);
  }
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ended);

  const { rows } = await sql<{
    id: string;
    task_id: string;
    status: string;
  }>`select id, task_id, status from task_runs`.execute(db.system);
  assert.ok(rows.every(({ status }) => status === 'succeeded'));
  assert.equal(new Set(rows.map(({ task_id }) => task_id)).size, 2 * RUNS);
  assert.equal(rows.length, 2 * RUNS, 'something ran twice');
  assert.deepEqual(asked, new Set(rows.map(({ id }) => id)));
  assert.equal(kills, 4);

  agent.close();
  agent.closeAllConnections();
  await drop();
});
