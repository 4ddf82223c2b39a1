import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { tasksWaiting } from '@troupe/contract';
import { notify, type Runtime } from '@troupe/db';
import { testRuntime } from '@troupe/testing/database/runtime';
import { testUser } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { createScheduler, type Wake } from './service.ts';

/** Who gets a place for a run: of users, and of processes. */

let runtime: Runtime;
before(async () => {
  runtime = await testRuntime();
});
after(() => runtime.close());
beforeEach(() => sql`delete from users`.execute(runtime.db.system));

/** So many people with so many tasks each, all due. */
async function addTasks(people: number, each: number, name = 'u'): Promise<void> {
  for (let person = 0; person < people; person += 1) {
    const user = `${name}${person}`;
    await testUser(runtime.db, user);
    await sql`insert into scheduled_tasks
        (id, user_id, agent_id, name, cron_schedule, prompt, enabled, next_run, created_at, updated_at)
      select ${user} || '-' || n, ${user}, 'agent', 'T', '0 0 1 1 *', 'go', true, now() - interval '1 second', now(), now()
      from generate_series(1, ${each}) n`.execute(runtime.db.system);
  }
}

const NEVER = { pollMs: 3_600_000 };

/** A process that runs tasks, and each of them until it is told to end. */
function startHolding(over: Promise<string>, begun: (taskId: string) => void, more: { pollMs?: number } = NEVER) {
  const { db, log, listener } = runtime;
  const looked = Promise.withResolvers<void>();
  const execute: Wake['execute'] = (_agent, { id }) => {
    begun(id);
    return over;
  };
  const one = createScheduler({
    db,
    log,
    listener,
    wake: { execute, heartbeat: async () => {} },
    // done after its first look
    chores: [async () => looked.resolve()],
    ...more,
  });
  one.start();
  return { looked: looked.promise, close: () => one.close() };
}

/** What is told is heard from now on. */
async function listening(): Promise<void> {
  const { db, listener } = runtime;
  const heard = Promise.withResolvers<void>();
  const stop = listener.on(tasksWaiting, () => heard.resolve());
  const telling = setInterval(() => void notify(db.system, tasksWaiting, '').catch(() => undefined), 100);
  await heard.promise;
  clearInterval(telling);
  stop();
}

test('further runs of the same users leave places for those who have nothing under way', async () => {
  await addTasks(12, 20, 'greedy');
  const held = Promise.withResolvers<string>();
  const full = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const ran: string[] = [];
  const begun = (id: string): void => {
    ran.push(id);
    if (id === 'late0-1') late.resolve();
    else if (ran.length === 100) full.resolve();
  };
  const one = startHolding(held.promise, begun, { pollMs: 10 });
  await full.promise;
  await addTasks(1, 1, 'late');
  await late.promise;
  assert.equal(ran.length, 101);
  held.resolve('done');
  await one.close();
});

test('all of 300 that fall due at once begin on three processes, none after the end of another', async () => {
  await listening();
  const held = Promise.withResolvers<string>();
  const all = Promise.withResolvers<void>();
  const ran = [0, 0, 0];
  const inAll = (): number => ran.reduce((sum, own) => sum + own, 0);
  const begun = (process: number) => (): void => {
    ran[process]! += 1;
    if (inAll() === 300) all.resolve();
  };
  const processes = ran.map((_, process) => startHolding(held.promise, begun(process)));
  await Promise.all(processes.map(({ looked }) => looked));
  await addTasks(30, 10);
  const began = performance.now();
  await notify(runtime.db.system, tasksWaiting, '');
  // No run ends, and no poll comes: whoever loses a task to another process has to look again by itself.
  await Promise.race([all.promise, new Promise((resolve) => setTimeout(resolve, 30_000).unref())]);
  const seconds = (performance.now() - began) / 1000;
  assert.deepEqual([inAll(), ran.every((own) => own >= 20)], [300, true], JSON.stringify(ran));
  assert.ok(seconds < 10, `${seconds} s`);
  held.resolve('done');
  await Promise.all(processes.map((one) => one.close()));
});

test('more tasks than one takes at once are told to others, who need not wait for their poll', async () => {
  await listening();
  const held = Promise.withResolvers<string>();
  const all = Promise.withResolvers<void>();
  const ran = { idle: 0, busy: 0 };
  const begun = (who: keyof typeof ran) => (): void => {
    ran[who] += 1;
    if (ran.idle + ran.busy === 150) all.resolve();
  };
  const idle = startHolding(held.promise, begun('idle'));
  await idle.looked;
  await addTasks(15, 10);
  // more than have a place there
  const busy = startHolding(held.promise, begun('busy'));
  await all.promise;
  assert.ok(ran.busy >= 20 && ran.idle >= 50, JSON.stringify(ran));
  held.resolve('done');
  await Promise.all([idle.close(), busy.close()]);
});

test('a heartbeat that had no place beats when there is one, whatever came in between', async () => {
  await listening();
  const { db, log, listener } = runtime;
  for (let person = 0; person < 4; person += 1) {
    await testUser(db, `h${person}`);
    await sql`with made as (insert into agents (id, user_id, name)
        select ${`h${person}-`} || n, ${`h${person}`}, 'A' from generate_series(1, 11) n returning id, user_id)
      insert into heartbeats (agent_id, user_id, frequency, seconds, enabled, next_heartbeat)
      select id, user_id, '3h', 10800, true, now() - interval '1 second' from made`.execute(db.system);
  }
  const full = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const held = Promise.withResolvers<string>();
  let beats = 0;
  const one = createScheduler({
    db,
    log,
    listener,
    wake: {
      execute() {
        asked.resolve();
        return held.promise;
      },
      heartbeat() {
        beats += 1;
        if (beats === 40) full.resolve();
        if (beats === 44) all.resolve();
        return over.promise;
      },
    },
    ...NEVER,
  });
  one.start();
  await full.promise;
  // A turn that finds no place for any heartbeat.
  await addTasks(1, 1);
  await notify(db.system, tasksWaiting, '');
  await asked.promise;
  await delay(200);
  over.resolve();
  await Promise.race([all.promise, delay(10_000, undefined, { ref: false })]);
  assert.equal(beats, 44);
  held.resolve('done');
  await one.close();
});
