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
});
after(() => backend.stop());

const provision = (ask: typeof ann, body: object) => ask('POST', '/api/provision', body);

test('an agent is made with its channels and runs; a repeat with its id finds it', async () => {
  const given = { agentId: 'ada', channelTokenA: 'secret-token-a' };
  const { status, body } = await provision(ann, given);
  assert.ok(status < 300, JSON.stringify(body));
  assert.deepEqual(
    [body.success, body.userId, body.agentId, body.plan, body.status, body.metadata.channels],
    [true, 'ann', 'ada', 'solo', 'running', ['channelA']],
  );
  assert.equal(body.url, `https://${body.subdomain}`);
  assert.ok(!JSON.stringify(body).includes('secret-token-a'));
  const again = await provision(ann, given);
  assert.deepEqual([again.body.agentId, again.body.createdAt], ['ada', body.createdAt]);
  const over = await provision(ann, { autoProvision: true });
  assert.deepEqual([over.status, over.body.code], [402, 'AGENT_LIMIT_REACHED']);
});

test('the id of another user’s agent is taken, and it stays whose it was', async () => {
  const taken = await provision(ben, { agentId: 'ada', autoProvision: true });
  assert.equal(taken.status, 409, JSON.stringify(taken.body));
  const row = backend.deps.db.system.selectFrom('agents').select('user_id').where('id', '=', 'ada');
  assert.equal((await row.executeTakeFirstOrThrow()).user_id, 'ann');
});

test('says what is wrong, and makes nothing', async () => {
  for (const [body, status, error] of [
    [{}, 400, 'At least one channel token required'],
    [{ plan: 'free', autoProvision: true }, 402, 'A paid plan is required. Choose a plan at /pricing'],
  ] as const) {
    const answer = await provision(ben, body);
    assert.deepEqual([answer.status, answer.body.error], [status, error]);
  }
  const answer = await backend.server.app.inject({ method: 'POST', url: '/api/provision', payload: {} });
  assert.equal(answer.statusCode, 401);
  const rows = backend.deps.db.system.selectFrom('agents').select('id').where('user_id', '=', 'ben');
  assert.deepEqual(await rows.execute(), []);
});
