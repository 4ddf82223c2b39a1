import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeNext } from './auth.ts';

test('leads to a page of this site, with all that belongs to it', () => {
  for (const next of ['/dashboard/agents', '/dashboard?tab=keys', '/dashboard#top', '/a//b'])
    assert.equal(safeNext(next), next);
});

test('never leads off the site, nor back to the sign-in', () => {
  const hostile = [
    undefined,
    '',
    'dashboard',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/\r\\evil.example',
    ' //evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    'data:text/html,hi',
    '/login',
    '/login/second-step?next=/login',
  ];
  for (const next of hostile) assert.equal(safeNext(next), '/dashboard', JSON.stringify(next));
});
