import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIVE_TOPICS, type LiveTopic } from '@troupe/contract';
import { createPaced } from './paced.ts';

test('a few changes are read at once, a stream of them now and then, and the last always', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const read: LiveTopic[][] = [];
  const paced = createPaced((topics) => read.push(topics));
  for (let change = 0; change < 4; change += 1) paced.take(['work', 'inbox']);
  // What waits for somebody is put off last.
  assert.deepEqual(read.splice(0), [['work', 'inbox'], ['work', 'inbox'], ['work', 'inbox'], ['inbox']]);
  t.mock.timers.tick(7499);
  assert.deepEqual(read, []);
  t.mock.timers.tick(1);
  assert.deepEqual(read.splice(0), [['work']]);

  // Twice a second for five minutes.
  for (let half = 0; half < 600; half += 1) {
    paced.take(['work']);
    t.mock.timers.tick(500);
  }
  assert.ok(read.length >= 38 && read.length <= 44, `${read.length} in five minutes`);
  read.length = 0;
  t.mock.timers.tick(60_000);
  assert.ok(read.length <= 1, 'the last one, once');
  paced.take(['work']);
  assert.deepEqual(read.at(-1), ['work'], 'at once again after a rest');

  for (let change = 0; change < 9; change += 1) paced.take(['work']);
  paced.stop();
  read.length = 0;
  t.mock.timers.tick(60_000);
  assert.deepEqual(read, []);
});

test('whatever the stream tells each second, no topic is read more than half as often', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const reads = new Map<LiveTopic, number>();
  const paced = createPaced((topics) => {
    for (const topic of topics) reads.set(topic, (reads.get(topic) ?? 0) + 1);
  });
  t.after(() => paced.stop());
  for (let second = 0; second < 60; second += 1) {
    paced.take([...LIVE_TOPICS]);
    t.mock.timers.tick(1000);
  }
  assert.equal(reads.size, LIVE_TOPICS.length);
  for (const [topic, times] of reads) assert.ok(times <= 30, `${topic}: ${times}`);
});
