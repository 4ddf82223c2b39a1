import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LIVE_TOPICS } from '@troupe/contract';
import { createRecent } from './recent.ts';

describe('what a stream that opens may have missed', () => {
  const setUp = () => {
    let now = 0;
    const recent = createRecent(() => now);
    return { recent, pass: (ms: number) => (now += ms) };
  };

  test('is what was told since its reader read, and what is told to readers alone', () => {
    const { recent, pass } = setUp();
    recent.add('ann', 'agents');
    pass(29_000);
    recent.add('ann', 'devices');
    recent.add('bob', 'account');
    pass(2000);
    assert.deepEqual(recent.missed('ann', 5000), ['devices', 'inbox', 'tasks', 'usage', 'work']);
    assert.deepEqual(recent.missed('ann', 5000), ['devices'], 'a reader was told of all else');
    assert.deepEqual(recent.missed('ann', 30_000), ['agents', 'devices'], 'in both halves');
    assert.deepEqual(recent.missed('ann', 100), []);
  });

  test('is everything where it would have been forgotten', () => {
    const { recent, pass } = setUp();
    recent.missed('ann', 0);
    assert.deepEqual(recent.missed('ann', 30_001), [...LIVE_TOPICS]);
    pass(61_000);
    assert.deepEqual(recent.missed('ann', 0), ['inbox', 'tasks', 'usage', 'work'], 'who was here is forgotten, too');
  });
});
