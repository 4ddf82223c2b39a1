import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { testDatabase, testUser } from '@troupe/testing/database/server';
import { sql } from 'kysely';

const PROGRAM = fileURLToPath(new URL('killed-program.ts', import.meta.url));
const OCCURRENCES = 2000;
const PROCESSES = 3;
const DEADLINE_MS = 120_000;

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

  const start = () => spawn(process.execPath, [PROGRAM, url, agentUrl], { stdio: 'inherit' });
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
