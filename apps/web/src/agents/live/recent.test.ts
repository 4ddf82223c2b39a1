import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRecent } from './recent.ts';

describe('what a stream that opens may have missed', () => {
  const setUp = () => {
    let now = 0;
    const recent = createRecent(() => now);
    return { recent, pass: (ms: number) => (now += ms) };
  };

  test('is what was told in the half minute before, and what is told to readers alone', () => {
    const { recent, pass } = setUp();
    recent.add('ann', 'agents');
    pass(29_000);
    recent.add('ann', 'usage');
    recent.add('bob', 'devices');
    assert.deepEqual(recent.missed('ann'), ['agents', 'inbox', 'tasks', 'usage', 'work']);
    pass(2000);
    assert.deepEqual(recent.missed('ann'), ['agents', 'usage'], 'a reader was told of all there was');
  });

  test('is forgotten after a minute at the most', () => {
    const { recent, pass } = setUp();
    recent.missed('ann');
    recent.add('ann', 'agents');
    pass(31_000);
    assert.deepEqual(recent.missed('ann'), ['agents']);
    pass(31_000);
    assert.deepEqual(recent.missed('ann'), []);
    recent.add('ann', 'agents');
    pass(61_000);
    assert.deepEqual(recent.missed('ann'), ['inbox', 'tasks', 'usage', 'work']);
  });
});
