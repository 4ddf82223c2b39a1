import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StageActor } from '@troupe/contract';
import { withChange } from './stage-change.ts';

const actor = (id: string, state: StageActor['state'] = 'ready') => ({ id, name: id, state }) as StageActor;

test('who changed is another, who came is there, who went is not, and all stand as the platform lists them', () => {
  const old = { agents: [actor('a'), actor('b'), actor('c')], more: false, todayUsd: 1 };
  const change = { agents: [actor('c', 'working'), actor('d', 'waits')], gone: ['b'], more: true, todayUsd: 2 };
  const now = withChange(old, change);
  assert.deepEqual(
    now.agents.map(({ id }) => id),
    ['d', 'c', 'a'],
  );
  assert.equal(now.agents[2], old.agents[0], 'the same is not drawn again');
  assert.deepEqual([now.more, now.todayUsd, old.agents.length], [true, 2, 3]);
});
