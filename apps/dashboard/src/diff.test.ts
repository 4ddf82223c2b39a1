import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from './diff.ts';

const paths = (before: unknown, after: unknown) => differences(before, after).map(({ path }) => path);

test('each place that differs, by its path', () => {
  assert.deepEqual(differences({ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }), [{ path: 'a.c', before: 2, after: 3 }]);
  assert.deepEqual(paths({ a: 1 }, { a: 1 }), []);
});

test('what came and what went', () => {
  assert.deepEqual(differences({ gone: 1 }, { came: 2 }), [
    { path: 'gone', before: 1, after: undefined },
    { path: 'came', before: undefined, after: 2 },
  ]);
});

test('a list is one place', () => {
  assert.deepEqual(paths({ list: [1, 2] }, { list: [2, 1] }), ['list']);
  assert.deepEqual(paths({ list: [{ a: 1 }] }, { list: [{ a: 1 }] }), []);
});

test('an object instead of something else is one place, and the whole has no path', () => {
  assert.deepEqual(paths({ a: null }, { a: {} }), ['a']);
  assert.deepEqual(paths({ a: [] }, { a: {} }), ['a']);
  assert.deepEqual(paths(1, 2), ['']);
});

test('names of the language are names like others', () => {
  const hostile = JSON.parse('{"__proto__": {"admin": true}, "constructor": 1}') as object;
  assert.deepEqual(paths({}, hostile).sort(), ['__proto__', 'constructor']);
});
