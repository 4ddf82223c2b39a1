import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EvaluationCheck } from '@troupe/contract';
import { CHECK_KINDS, checkOf, draftOf, sayCheck, schemaIn } from './checks.ts';

const CHECKS: EvaluationCheck[] = [
  { kind: 'contains', text: 'a b' },
  { kind: 'lacks', text: 'c' },
  { kind: 'regex', pattern: '^x$' },
  { kind: 'schema', schema: { type: 'object' } },
  { kind: 'called', tool: 'fetch', with: 'example.com' },
  { kind: 'called', tool: 'fetch' },
  { kind: 'not_called', tool: 'shell' },
  { kind: 'cost', mostUsd: 0.01 },
  { kind: 'time', mostSeconds: 3 },
  { kind: 'judge', criteria: 'It is kind.' },
];

test('a check goes through the form unchanged, and every kind can be chosen', () => {
  for (const check of CHECKS) assert.deepEqual(checkOf(draftOf(check)), check);
  assert.deepEqual(new Set(CHECK_KINDS), new Set(CHECKS.map(({ kind }) => kind)));
});

test('a check is said in words', () => {
  assert.equal(sayCheck(CHECKS[4]!), 'It uses the tool: fetch (example.com)');
});

test('only an object is a schema', () => {
  assert.deepEqual(schemaIn('{"type":"object"}'), { type: 'object' });
  for (const text of ['', '[]', '1', 'null', '{']) assert.equal(schemaIn(text), undefined);
});
