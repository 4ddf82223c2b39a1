import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testUser } from '@troupe/testing/database/server';
import { askerFor, testBackend, type TestBackend } from '../../testing.ts';

let backend: TestBackend;
let ann: ReturnType<typeof askerFor>;
let ben: ReturnType<typeof askerFor>;
before(async () => {
  backend = await testBackend();
  for (const id of ['ann', 'ben']) await testUser(backend.deps.db, id, { plan: 'solo', status: 'active' });
  ann = askerFor(backend, 'ann');
  ben = askerFor(backend, 'ben');
  const made = await ann('POST', '/api/deployments', { agentId: 'ada', config: { name: 'Ada', plan: 'solo' } });
  assert.equal(made.status, 201, JSON.stringify(made.body));
});
after(() => backend.stop());

const status = async () => (await ann('GET', '/api/agents/ada')).body.status;

test('an agent is stopped, started and started anew, as often as it is asked', async () => {
  for (const [action, told, is] of [
    ['stop', 'stopped', 'stopped'],
    ['stop', 'stopped', 'stopped'],
    ['start', 'active', 'running'],
    ['start', 'active', 'running'],
    ['restart', 'active', 'running'],
  ] as const) {
    const { status: code, body } = await ann('POST', `/api/agents/ada/${action}`, {});
    assert.deepEqual([code, body.success, body.status, await status()], [200, true, told, is], action);
  }
});

test('a new token opens the gateway, the old one does not any more, and it is on record', async () => {
  const rotate = async () => (await ann('POST', '/api/agents/ada/token/rotate', {})).body.token as string;
  const opens = async (token: string) => {
    const url = '/api/runtime/proxy/ada/sessions';
    const headers = { authorization: `Bearer ${token}` };
    return (await backend.server.app.inject({ url, headers })).statusCode === 200;
  };
  const old = await rotate();
  assert.equal(await opens(old), true);
  const fresh = await rotate();
  assert.deepEqual([await opens(old), await opens(fresh)], [false, true]);
  const log = backend.deps.db.system.selectFrom('audit_log').select(['user_id', 'detail']);
  const rows = await log.where('action', '=', 'gateway-token-rotated').execute();
  assert.deepEqual(
    rows.map((row) => [row.user_id, row.detail]),
    [1, 2].map(() => ['ann', { agentId: 'ada', name: 'Ada' }]),
  );
});

test('another user’s agent, and one that is not there, are not found; nothing happens without the key', async () => {
  for (const action of ['start', 'stop', 'restart', 'update', 'repair', 'token/rotate', 'reset-memory']) {
    for (const [ask, id] of [
      [ben, 'ada'],
      [ann, 'nobody'],
    ] as const)
      assert.deepEqual(await ask('POST', `/api/agents/${id}/${action}`, {}), {
        status: 404,
        body: { error: 'Agent not found' },
      });
    const answer = await backend.server.app.inject({ method: 'POST', url: `/api/agents/ada/${action}`, payload: {} });
    assert.equal(answer.statusCode, 401, action);
  }
  assert.equal(await status(), 'running');
});
