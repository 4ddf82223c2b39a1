import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@troupe/kernel';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { putTogether } from '@troupe/testing/processes/together';
import { wakePair } from './background-testing.ts';
import { makeAgentRow, web } from './testing.ts';

let database: TestDatabase;
let program: Awaited<ReturnType<typeof putTogether>>;
before(async () => {
  database = await testDatabase();
  program = await putTogether(path.join(import.meta.dirname, 'fixtures/background-child.ts'));
});
after(async () => {
  await program.remove();
  await database.drop();
});

const FINISHED = 7;

async function runUntilKilled(leadId: string, step: number): Promise<number | null> {
  const child = spawn(process.execPath, [program.file, database.url, leadId, String(step)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve) => child.once('exit', resolve));
}

/** What both have after this process went on with it. */
async function recovered(leadId: string) {
  const { lead, worker } = await wakePair({ db: database.db, leadId });
  const { sessionId } = await lead.tell({ to: web, content: 'do it', inputId: 'one' });
  for (;;) {
    await Promise.all([lead.resume(), worker.resume()]);
    const rows = await database.db.system
      .selectFrom('agent_background')
      .select('settled')
      .where('agent_id', '=', leadId)
      .execute();
    const isSettled = rows.length > 0 && rows.every(({ settled }) => settled);
    const isBusy = lead.busyInBackground() + lead.busy() + worker.busy() > 0;
    const { status } = (await lead.store.session(sessionId)) ?? {};
    if (isSettled && !isBusy && status === 'idle') break;
    await delay(30);
  }
  const events = await lead.store.events(sessionId, { after: 0, limit: 100 });
  const tasks = await lead.store.tasks({ limit: 10 });
  const sessions = await worker.store.sessions({ limit: 10, offset: 0 });
  const work = await worker.store.events(sessions[0]?.id ?? '', { after: 0, limit: 100 });
  return { events, tasks, sessions, work };
}

test(
  'killed with -9 before any of its steps: the work is done, and its result told once',
  { timeout: 600_000 },
  async () => {
    for (let step = 1; ; step += 1) {
      const leadId = newId();
      for (const id of [leadId, `${leadId}-w`]) await makeAgentRow(database.db, 'u', id);
      const code = await runUntilKilled(leadId, step);
      if (code === FINISHED) {
        assert.ok(step > 8, `it was killed ${step - 1} times`);
        return;
      }
      assert.equal(code, null, `step ${step}`);
      const { events, tasks, sessions, work } = await recovered(leadId);
      assert.deepEqual(
        tasks.map(({ status, result }) => [status, result]),
        [['done', 'done']],
        `step ${step}`,
      );
      const told = events.filter((event) => event.type === 'user' && event.background);
      assert.equal(told.length, 1, `step ${step}: told ${told.length} times`);
      assert.equal(
        events.filter((event) => event.type === 'assistant' && event.content === 'heard').length,
        1,
        `step ${step}`,
      );
      assert.equal(sessions.length, 1, `step ${step}`);
      assert.equal(work.filter(({ type }) => type === 'user').length, 1, `step ${step}`);
    }
  },
);
