import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StageActor, StageChange } from '@troupe/contract';
import { silentLog } from '@troupe/kernel';
import { openOutbox } from './outbox.ts';
import { createStages } from './stages.ts';

const actor = (id: string, state: StageActor['state'] = 'ready') => ({ id, state }) as StageActor;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A stage that a test changes, and how often it was read. */
function scene() {
  const now = { agents: [actor('a'), actor('b')], more: false, todayUsd: 0 };
  let reads = 0;
  const stages = createStages({
    read: async () => {
      reads += 1;
      return structuredClone(now);
    },
    log: silentLog,
  });
  return { now, stages, reads: () => reads };
}

test('all readers of a user are told what changed, from one look a second', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { now, stages, reads } = scene();
  const told: StageChange[][] = [[], []];
  const leave = await Promise.all(told.map((list) => stages.join('ann', (change) => list.push(change))));
  assert.equal(reads(), 1);
  now.agents[0] = actor('a', 'working');
  for (let change = 0; change < 20; change += 1) stages.changed('ann', 'work');
  stages.changed('ben', 'work');
  stages.changed('ann', 'devices');
  await turn();
  assert.deepEqual([reads(), told[0]!.length, told[1]!.length], [2, 1, 1]);
  assert.deepEqual(told[0]![0], { agents: [actor('a', 'working')], gone: [], more: false, todayUsd: 0 });
  now.agents.pop();
  t.mock.timers.tick(999);
  await turn();
  assert.equal(reads(), 2);
  t.mock.timers.tick(1);
  await turn();
  assert.deepEqual([reads(), told[1]!.at(-1)!.gone], [3, ['b']]);
  // Nothing was told since, so nothing is read, and what is the same is not told.
  t.mock.timers.tick(5000);
  await turn();
  assert.equal(reads(), 3);
  stages.changed('ann', 'usage');
  await turn();
  assert.deepEqual([reads(), told[0]!.length], [4, 2]);
  for (const go of leave) go();
  stages.changed('ann', 'work');
  await turn();
  assert.equal(reads(), 4, 'nobody looks any more');
});

test('a look that fails is tried again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let fails = false;
  const stages = createStages({
    read: async () => {
      if (fails) throw new Error('away');
      return { agents: [actor('a', 'working')], more: false, todayUsd: 1 };
    },
    log: silentLog,
  });
  const told: StageChange[] = [];
  fails = true;
  const leave = await stages.join('ann', (change) => told.push(change));
  stages.changed('ann', 'work');
  await turn();
  assert.equal(told.length, 0);
  fails = false;
  t.mock.timers.tick(1000);
  await turn();
  assert.deepEqual(told[0]?.agents, [actor('a', 'working')]);
  leave();
});

test('a reader who takes nothing costs no more than the stage has agents', async () => {
  const gone = new AbortController();
  const outbox = openOutbox(gone.signal);
  const some = { more: false, todayUsd: 1 };
  outbox.stage({ agents: [actor('a'), actor('b')], gone: [], ...some });
  outbox.stage({ agents: [actor('a', 'working')], gone: ['b'], ...some });
  outbox.stage({ agents: [actor('b', 'off')], gone: [], ...some, todayUsd: 2 });
  assert.deepEqual(await outbox.take(), {
    event: 'stage',
    data: { agents: [actor('a', 'working'), actor('b', 'off')], gone: [], more: false, todayUsd: 2 },
  });
  gone.abort();
  assert.equal(await outbox.take(), undefined);
});
