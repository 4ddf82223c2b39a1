import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fund } from '@troupe/testing/money/fund';
import { send } from '@troupe/testing/services/people';
import { addUser, startServices } from '@troupe/testing/services/services';

/** /api/v1/gateway: who works when nobody has set an address for the plugin `agent`. */

const services = await startServices();
after(() => services.stop());

async function payer() {
  const user = await addUser(services.runtime, { plan: 'label' });
  const headers = { authorization: `Bearer ${user.key}` };
  const ask = (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
    send(services.web + path, method, body, { ...headers, ...more });
  const { address } = (await ask('POST', '/api/wallet', { action: 'create' })).body;
  await fund(services.runtime.db, address, 1_000_000n);
  const call = (prompt: string) => ask('POST', '/api/v1/gateway', { prompt }, { 'x-payment-method': 'card' });
  return { ask, call };
}

test('it is the payer’s own main agent, which remembers the conversation', async () => {
  const { ask, call } = await payer();
  const agentId = (await ask('POST', '/api/agents/provision', { name: 'Ada' })).body.agent.id;
  const { status, body } = await call('Tell me about the night train');
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.plugin, body.result.agentId, body.payment.method], ['agent', agentId, 'card']);
  assert.match(body.result.text, /sandbox/i);
  const { messages } = (await ask('GET', `/api/chat?agentId=${agentId}`)).body;
  assert.ok(
    messages.some(({ content }: { content: string }) => content.includes('night train')),
    JSON.stringify(messages),
  );
  assert.equal((await ask('GET', '/api/wallet')).body.balance, '0.95');
});

test('a payer without an agent gets one call of a model', async () => {
  const { ask, call } = await payer();
  const { status, body } = await call('Tell me about the night train');
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(Object.keys(body.result).toSorted(), ['model', 'text', 'usage']);
  assert.equal((await ask('GET', '/api/wallet')).body.balance, '0.95');
});
