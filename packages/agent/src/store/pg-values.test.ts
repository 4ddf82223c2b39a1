import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storableJson } from './pg-values.ts';

test('what PostgreSQL does not take is exchanged, at any depth', () => {
  const given = { a: ['x\0y', { b: 'half \ud83d of one' }], c: 'whole 😀' };
  assert.deepEqual(JSON.parse(storableJson(given)), { a: ['x�y', { b: 'half � of one' }], c: 'whole 😀' });
});

test('a text that only spells it out stays as it is', () => {
  const given = { a: String.raw`\u0000 and \ud83d`, b: 'plain' };
  assert.deepEqual(JSON.parse(storableJson(given)), given);
});
