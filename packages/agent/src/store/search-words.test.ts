import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchWords } from './search-words.ts';

test('what tells something is looked for, once each, in the order of the text', () => {
  assert.deepEqual(searchWords('What is the name of my dog? The dog of Ada-Lovelace 2026'), [
    'name',
    'dog',
    'ada',
    'lovelace',
    '2026',
  ]);
  assert.deepEqual(searchWords('我的狗 and iPhone手机'), ['iphone', '的狗', '手机']);
  const many = Array.from({ length: 100 }, (_, n) => `word${n}`);
  assert.deepEqual(searchWords(many.join(' ')), many.slice(0, 24));
});

test('of a text without an end its beginning is looked through', () => {
  const texts = ['a '.repeat(128 * 1024), 'x'.repeat(256 * 1024), '我的名字'.repeat(64 * 1024)];
  const began = performance.now();
  for (const text of texts) for (let times = 0; times < 40; times += 1) searchWords(text);
  const took = performance.now() - began;
  // All of it took twenty seconds.
  assert.ok(took < 1000, `${Math.round(took)} ms`);
  assert.deepEqual(searchWords(`${'the '.repeat(2000)}boiler`), []);
});
