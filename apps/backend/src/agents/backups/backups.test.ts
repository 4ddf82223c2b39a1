import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { testUser } from '@troupe/testing/database/server';
import { askerFor, testBackend, type TestBackend } from '../../testing.ts';

let backend: TestBackend;
let ann: ReturnType<typeof askerFor>;
before(async () => {
  backend = await testBackend();
  for (const id of ['ann', 'ben']) await testUser(backend.deps.db, id, { plan: 'solo', status: 'active' });
  ann = askerFor(backend, 'ann');
  await ann('POST', '/api/deployments', { agentId: 'ada', config: { name: 'Ada', plan: 'solo' } });
});
after(() => backend.stop());

const at = '/api/agents/ada/backups';
const remembered = async () => (await ann('GET', '/api/runtime/proxy/ada/memory')).body.count;
const tell = (content: string) =>
  ann('POST', '/api/runtime/proxy/ada/v1/chat/completions', { messages: [{ role: 'user', content }] });

test('one is made, downloaded, put back with a copy of what was there, and deleted', async () => {
  await tell('remember the sky is green');
  const { status, body } = await ann('POST', at, {});
  assert.deepEqual([status, body.success, body.backup.reason], [201, true, 'manual'], JSON.stringify(body));
  const { id, size } = body.backup;
  const archive = (await ann('GET', `${at}/${id}`)).body as Buffer;
  assert.equal(archive.length, size);
  assert.ok(gunzipSync(archive).length > 0);

  await tell('remember the sea is deep');
  assert.equal(await remembered(), 2);
  const restored = await ann('POST', `${at}/${id}/restore`, {});
  assert.deepEqual([restored.body.restored, restored.body.status], [id, 'running'], JSON.stringify(restored.body));
  assert.equal(await remembered(), 1);
  const { backups, count } = (await ann('GET', at)).body;
  assert.equal(count, 2);
  assert.deepEqual(new Set(backups.map((one: { id: string }) => one.id)), new Set([id, restored.body.safetyBackupId]));
  assert.deepEqual((await ann('DELETE', `${at}/${id}`)).body, { success: true, deleted: id });
  assert.equal((await ann('GET', at)).body.count, 1);
});

test('another user’s, and one that is not there, are not found', async () => {
  const { id } = (await ann('POST', at, {})).body.backup;
  const ben = askerFor(backend, 'ben');
  for (const [ask, known] of [
    [ben, id],
    [ann, 'nothing'],
  ] as const)
    for (const [method, path] of [
      ['GET', `/${known}`],
      ['POST', `/${known}/restore`],
      ['DELETE', `/${known}`],
    ] as const)
      assert.equal((await ask(method, at + path, method === 'POST' ? {} : undefined)).status, 404, method + path);
  assert.equal((await ben('GET', at)).status, 404);
  assert.equal((await ben('POST', at, {})).status, 404);
});
