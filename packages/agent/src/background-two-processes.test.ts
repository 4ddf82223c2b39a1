import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@troupe/kernel';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { putTogether } from '@troupe/testing/processes/together';
import { wakePair } from './background-testing.ts';
import { makeAgentRow } from './testing.ts';

/** A lead and its worker in processes of their own, two conversations at once, and one of the two killed. */

type Side = 'lead' | 'worker';

let database: TestDatabase;
let program: Awaited<ReturnType<typeof putTogether>>;
const running = new Set<ChildProcess>();
before(async () => {
  database = await testDatabase();
  program = await putTogether(path.join(import.meta.dirname, 'fixtures/background-side-child.ts'));
});
after(async () => {
  await Promise.all([...running].map(kill));
  await program.remove();
  await database.drop();
});

function start(side: Side, leadId: string, port: number): ChildProcess {
  const child = spawn(process.execPath, [program.file, database.url, leadId, side, String(port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  running.add(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** A port that is free; whoever is started again has the same. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 90_000; !(await look()); await delay(20)) assert.ok(Date.now() < end, what);
}

const tasksOf = (leadId: string) =>
  database.db.system
    .selectFrom('agent_background')
    .select(['settled', 'status'])
    .where('agent_id', '=', leadId)
    .execute();

async function check(leadId: string): Promise<void> {
  // Only looked at: nobody goes on with anything here.
  const { lead, worker } = await wakePair({ db: database.db, leadId, reach: async () => undefined });
  const tasks = await lead.store.tasks({ limit: 10 });
  assert.deepEqual(
    tasks.map(({ status }) => status),
    ['done', 'done'],
  );
  const talks = (await lead.store.sessions({ limit: 10, offset: 0 })).toSorted((a, b) => a.key.localeCompare(b.key));
  assert.equal(talks.length, 2);
  for (const { id, key } of talks) {
    const events = await lead.store.events(id, { after: 0, limit: 100 });
    const told = events.filter((event) => event.type === 'user' && event.background);
    assert.equal(told.length, 1, `${key} was told ${told.length} times`);
    const said = key === 'second' ? 'second' : 'first';
    assert.match(JSON.stringify(told[0]), new RegExp(`done: ${said}`), key);
    assert.equal(events.filter((event) => event.type === 'assistant' && event.content === 'heard').length, 1, key);
  }
  const works = await worker.store.sessions({ limit: 10, offset: 0 });
  assert.equal(works.length, 2, 'each task is one conversation');
  for (const { id } of works) {
    const events = await worker.store.events(id, { after: 0, limit: 100 });
    assert.equal(events.filter(({ type }) => type === 'user').length, 1);
  }
}

/** From the moment on which both tasks are there: before the work is done, as it ends, and while its end is told. */
const MOMENTS_MS = [0, 300, 600, 800];

describe('a lead and its worker in two processes', { timeout: 600_000 }, () => {
  for (const side of ['lead', 'worker'] as const)
    for (const moment of MOMENTS_MS)
      test(`the ${side} killed with -9 after ${moment} ms: each result reaches its conversation once`, async () => {
        const leadId = newId();
        for (const id of [leadId, `${leadId}-w`]) await makeAgentRow(database.db, 'u', id);
        const port = await freePort();
        const sides = { worker: start('worker', leadId, port), lead: start('lead', leadId, port) };
        await until('both tasks are there', async () => (await tasksOf(leadId)).length === 2);
        await delay(moment);
        await kill(sides[side]);
        sides[side] = start(side, leadId, port);
        await until('both are told', async () => (await tasksOf(leadId)).every(({ settled }) => settled));
        const isQuiet = async (): Promise<boolean> => {
          const { lead } = await wakePair({ db: database.db, leadId, reach: async () => undefined });
          const talks = await lead.store.sessions({ limit: 10, offset: 0 });
          return talks.length === 2 && talks.every(({ status }) => status === 'idle');
        };
        await until('both conversations rest', isQuiet);
        await Promise.all(Object.values(sides).map(kill));
        await check(leadId);
      });
});
