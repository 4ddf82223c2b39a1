import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { send } from '@troupe/testing/services/people';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

/** What an agent did, step by step, and its owner's say in it: approvals, cancelling, forgetting. */

let services: Services;
let ada: TestUser;
let bob: TestUser;
let agentId: string;

const ask = (method: string, path: string, body?: unknown, bearer = ada.key, base = services.web) =>
  send(base + path, method, body, { authorization: `Bearer ${bearer}` });

before(async () => {
  services = await startServices();
  await services.runtime.jobs.start();
  ada = await addUser(services.runtime, { plan: 'label' });
  bob = await addUser(services.runtime, { plan: 'label' });
  agentId = (await ask('POST', '/api/agents/provision', { name: 'Ada' })).body.agent.id;
  // Writing files waits for the owner from here on.
  const { token } = (await ask('GET', `/api/agents/${agentId}/token`)).body;
  const proxy = `/api/runtime/proxy/${agentId}/definition`;
  const { definition } = (await ask('GET', proxy, undefined, token, services.backend)).body;
  const saved = await ask('PUT', proxy, { ...definition, approvals: { write_file: 'ask' } }, token, services.backend);
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
});
after(() => services.stop());

/** Says something that needs an approval, and answers the session and the approval that waits in it. */
async function waiting(message: string, topic: string) {
  const answer = ask('POST', '/api/chat', { message, agentId, topic });
  for (;;) {
    const { sessions } = (await ask('GET', `/api/agents/${agentId}/sessions`)).body;
    const found = sessions.find(({ status }: { status: string }) => status === 'waiting');
    if (found) {
      const { events } = (await ask('GET', `/api/agents/${agentId}/sessions/${found.id}`)).body;
      const asked = events.findLast(({ type }: { type: string }) => type === 'approval_requested');
      return { sessionId: found.id as string, approvalId: asked.approvalId as string, answer };
    }
    await delay(30);
  }
}

const stepsOf = async (sessionId: string): Promise<{ type: string; isError?: boolean; content?: string }[]> =>
  (await ask('GET', `/api/agents/${agentId}/sessions/${sessionId}`)).body.events;

async function untilIdle(sessionId: string) {
  for (;;) {
    const { session } = (await ask('GET', `/api/agents/${agentId}/sessions/${sessionId}`)).body;
    if (session.status === 'idle') return;
    await delay(30);
  }
}

test('a tool call waits for its owner, runs when it is allowed, and is decided once', async () => {
  const { sessionId, approvalId, answer } = await waiting('write plan.md: first draft', 'a');
  const decide = (approved: boolean, who = ada) =>
    ask('POST', `/api/agents/${agentId}/approvals/${approvalId}`, { approved }, who.key);
  assert.equal((await decide(true, bob)).status, 404);
  assert.equal((await decide(true)).status, 200);
  assert.ok((await decide(false)).status >= 400);
  await untilIdle(sessionId);
  await answer;
  const results = (await stepsOf(sessionId)).filter(({ type }) => type === 'tool_result');
  assert.equal(results.length, 1);
  assert.notEqual(results[0]?.isError, true);
});

test('one that is refused does not run', async () => {
  const { sessionId, approvalId, answer } = await waiting('write secret.md: no', 'b');
  assert.equal((await ask('POST', `/api/agents/${agentId}/approvals/${approvalId}`, { approved: false })).status, 200);
  await untilIdle(sessionId);
  await answer;
  const result = (await stepsOf(sessionId)).find(({ type }) => type === 'tool_result');
  assert.equal(result?.isError, true);
});

test('cancelling ends what waits', async () => {
  const { sessionId, answer } = await waiting('write later.md: x', 'c');
  assert.equal((await ask('POST', `/api/agents/${agentId}/sessions/${sessionId}/cancel`, {}, bob.key)).status, 404);
  assert.equal((await ask('POST', `/api/agents/${agentId}/sessions/${sessionId}/cancel`, {})).status, 200);
  await untilIdle(sessionId);
  await answer;
});

test('one memory is forgotten, the others stay', async () => {
  for (const key of ['one', 'two']) await ask('POST', '/api/memory', { agentId, key, memory: `value ${key}` });
  assert.equal((await ask('DELETE', '/api/memory', { agentId, key: 'one' }, bob.key)).status, 404);
  assert.equal((await ask('DELETE', '/api/memory', { agentId, key: 'one' })).status, 200);
  assert.equal((await ask('DELETE', '/api/memory', { agentId, key: 'one' })).status, 404);
  assert.deepEqual((await ask('GET', `/api/memory?agentId=${agentId}`)).body.memory, { two: 'value two' });
});
