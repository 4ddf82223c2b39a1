import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gather } from './pause.ts';

test('what comes often is passed on at once the first time, then together and never lost', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const passed: string[][] = [];
  const tell = gather<string>(1000, (all) => passed.push([...all]));
  tell([]);
  assert.deepEqual(passed, [], 'nothing is no news');
  tell(['work']);
  tell(['work', 'inbox']);
  tell(['work']);
  assert.deepEqual(passed, [['work']]);
  t.mock.timers.tick(999);
  assert.equal(passed.length, 1);
  t.mock.timers.tick(1);
  assert.deepEqual(passed, [['work'], ['work', 'inbox']]);
  tell(['usage']);
  assert.equal(passed.length, 2, 'it rests after that, too');
  t.mock.timers.tick(1000);
  t.mock.timers.tick(1000);
  tell(['usage']);
  assert.deepEqual(passed.slice(2), [['usage'], ['usage']]);
});
