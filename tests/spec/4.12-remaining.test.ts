import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

/** The remaining endpoints: health, metrics, credits, the daily brief, and what chat, memory and heartbeat say without an agent. */

let services: Services;
let ada: TestUser;
before(async () => {
  services = await startServices();
  ada = await addUser(services.runtime, { plan: 'solo' });
});
after(() => services.stop());

async function ask(method: string, path: string, body?: unknown, key: string | null = ada.key) {
  const response = await fetch(services.web + path, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
  return { status: response.status, body: (await response.json()) as any };
}

test('health is public and names what was checked', async () => {
  const { status, body } = await ask('GET', '/api/health', undefined, null);
  assert.equal(status, 200);
  assert.deepEqual([body.status, body.health, body.checks], ['ok', 'healthy', { database: true, backend: true }]);
});

test('everything else but the brief needs a session', async () => {
  for (const [method, path, body] of [
    ['GET', '/api/metrics'],
    ['GET', '/api/credits'],
    ['GET', '/api/chat'],
    ['POST', '/api/chat', { message: 'x' }],
    ['GET', '/api/memory?agentId=x'],
    ['POST', '/api/memory', { agentId: 'x', key: 'k', memory: 'v' }],
    ['GET', '/api/heartbeat?agentId=x'],
    ['GET', '/api/notices'],
  ] as const)
    assert.equal((await ask(method, path, body, null)).status, 401, `${method} ${path}`);
});

test('credits', async () => {
  const { body } = await ask('GET', '/api/credits');
  assert.deepEqual(Object.keys(body).toSorted(), ['credits', 'plan', 'referralCode', 'referralCount']);
  assert.deepEqual([body.credits, body.referralCount, body.plan], [0, 0, 'solo']);
});

test('metrics of somebody who has nothing are zeros, not inventions', async () => {
  const { body } = await ask('GET', '/api/metrics');
  assert.deepEqual(body.metrics.agents, { total: 0, running: 0, stopped: 0, failed: 0 });
  assert.deepEqual(body.metrics.performance, { calls: 0, averageMs: null, successRate: null });
  assert.equal(body.plan, 'solo');
});

test('the daily brief is public; with a session it is the own one', async () => {
  const open = await ask('GET', '/api/daily-brief', undefined, null);
  assert.equal(open.status, 200);
  assert.deepEqual(
    open.body.brief.map(({ id }: { id: string }) => id),
    ['system', 'tasks', 'focus', 'intel', 'security', 'calendar'],
  );
  const own = await ask('GET', '/api/daily-brief');
  assert.match(own.body.brief[1].items[0], /^0 task runs/);
});

test('chat without a message or an agent', async () => {
  assert.deepEqual(await ask('POST', '/api/chat', {}), { status: 400, body: { error: 'Message required' } });
  assert.deepEqual(await ask('POST', '/api/chat', { message: 'hi' }), {
    status: 404,
    body: { error: 'No agent deployed' },
  });
});

test('memory and heartbeat of an agent that is not there', async () => {
  assert.deepEqual(await ask('GET', '/api/memory'), { status: 400, body: { error: 'agentId required' } });
  assert.equal((await ask('GET', '/api/memory?agentId=nothing')).status, 404);
  assert.equal((await ask('GET', '/api/heartbeat?agentId=nothing')).status, 404);
});
