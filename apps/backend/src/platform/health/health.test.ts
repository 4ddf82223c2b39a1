import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { testBackend, type TestBackend } from '../../testing.ts';

const started: TestBackend[] = [];
after(() => Promise.all(started.map((backend) => backend.stop())));

async function health(env: Record<string, string> = {}) {
  const backend = await testBackend({ env });
  started.push(backend);
  const answer = await backend.server.app.inject('/health');
  return { status: answer.statusCode, ...answer.json() };
}

test('says to anybody that it is there, what runs agents, and since when it is now', async () => {
  const before = Date.now();
  const { timestamp, ...rest } = await health();
  assert.deepEqual(rest, { status: 'ok', driver: 'embedded', provisioning: 'enabled' });
  assert.ok(Date.parse(timestamp) >= before && Date.parse(timestamp) <= Date.now(), timestamp);
});

test('says that nothing is provisioned', async () => {
  assert.equal((await health({ PROVISIONING_DISABLED: 'true' })).provisioning, 'disabled');
});
