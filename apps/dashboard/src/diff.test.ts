import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedFields, differences, rebased } from './diff.ts';

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

test('of a change only the fields that differ are sent', () => {
  const before = {
    safety: { standing: [{ tool: 'x' }], approvals: { shell: 'allow', files: 'ask' } },
    model: { a: 1 },
  };
  const after = { ...before, safety: { ...before.safety, approvals: { shell: 'ask', files: 'ask' } } };
  assert.deepEqual(changedFields(before, after), { safety: { approvals: { shell: 'ask', files: 'ask' } } });
  assert.deepEqual(changedFields(before, before), {});
  assert.deepEqual(changedFields({ a: 1 }, { a: { b: 2 }, c: [3] }), { a: { b: 2 }, c: [3] });
  assert.deepEqual(changedFields({ a: { gone: 1, kept: 2 } }, { a: { kept: 2 } }), { a: {} });
});

test('a change that is not saved is made of what somebody else has saved meanwhile', () => {
  const before = { safety: { standing: ['rule'], approvals: { shell: 'allow', files: 'allow' } }, memory: { days: 1 } };
  const mine = { ...before, safety: { ...before.safety, approvals: { shell: 'ask', files: 'allow' } } };
  const theirs = { safety: { standing: [], approvals: { shell: 'allow', files: 'ask' } }, memory: { days: 9 } };
  assert.deepEqual(rebased(before, mine, theirs), {
    safety: { standing: [], approvals: { shell: 'ask', files: 'ask' } },
    memory: { days: 9 },
  });
  assert.deepEqual(rebased({ a: 1, b: 2 }, { b: 2, c: 3 }, { a: 1, b: 5 }), { b: 5, c: 3 });
  assert.deepEqual(rebased(before, before, theirs), theirs);
  const hostile = JSON.parse('{"__proto__": {"admin": true}}') as object;
  assert.equal(Object.getPrototypeOf(rebased({}, hostile, {})), Object.prototype);
});
