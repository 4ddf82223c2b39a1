import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallError, createClient, urlOf } from './client.ts';

const one = { path: '/api/agents/:id/backups/:backupId' };

test('a part of a path cannot mean another path', () => {
  for (const backupId of ['.', '..', ''])
    assert.throws(
      () => urlOf(one, { params: { id: 'a', backupId } }),
      new CallError(400, { error: 'backupId is not valid' }),
    );
  assert.equal(urlOf(one, { params: { id: 'a', backupId: '../../x y' } }), '/api/agents/a/backups/..%2F..%2Fx%20y');
  assert.equal(urlOf(one, { params: { id: 'a', backupId: '...' } }), '/api/agents/a/backups/...');
});

test('an error keeps what says when to come back', async () => {
  const headers = { 'retry-after': '7', 'ratelimit-remaining': '0', 'x-other': '1' };
  const { call } = createClient({
    baseUrl: 'http://service.test',
    fetch: async () => new Response('{"error":"Slow down"}', { status: 429, headers }),
  });
  const endpoint = { service: 'web', method: 'GET', path: '/x', auth: 'none', summary: '', tag: '' } as const;
  await assert.rejects(call(endpoint, {} as never), (error: CallError) => {
    assert.deepEqual(
      [error.status, error.message, error.headers],
      [429, 'Slow down', { 'retry-after': '7', 'ratelimit-remaining': '0' }],
    );
    return true;
  });
});
