import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createStandIn, replyChat, replyJson, type StandIn } from '@troupe/ai';
import { sql } from 'kysely';
import { askBackend, person, send, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** An agent that thinks on its owner's own account at a provider. */

const OWN = 'sk-own-key-of-the-user-0123456789';

let platform: StandIn;
let openai: StandIn;
let anthropic: StandIn;
let services: Services;
let ada: Person;

before(async () => {
  [platform, openai, anthropic] = await Promise.all([createStandIn(), createStandIn(), createStandIn()]);
  services = await startServices({
    OPENROUTER_API_KEY: 'platform-key',
    OPENROUTER_BASE_URL: platform.url,
    OPENAI_BASE_URL: openai.url,
    ANTHROPIC_BASE_URL: anthropic.url,
  });
});
beforeEach(async () => {
  ada = await person(services, { plan: 'solo' });
  for (const one of [platform, openai, anthropic]) one.requests.length = 0;
  openai.answer((request, response) => replyChat(request, response, { content: 'on your account' }));
});
after(async () => {
  await services.stop();
  await Promise.all([platform, openai, anthropic].map((one) => one.close()));
});

const made = async (config: object): Promise<string> => {
  const { status, body } = await ada.ask('POST', '/api/agents/provision', { name: 'Own', config });
  assert.equal(status, 201, JSON.stringify(body));
  return body.agent.id;
};

const said = (agentId: string) => ada.ask('POST', '/api/chat', { message: 'Hello', agentId });

async function usageOf(agentId: string) {
  for (;;) {
    const rows = await services.runtime.db.system
      .selectFrom('usage_logs')
      .selectAll()
      .where('agent_id', '=', agentId)
      .execute();
    if (rows.length > 0) return rows;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('its calls carry that key to that provider, cost the plan nothing and are recorded', async () => {
  const agentId = await made({ model: 'openai/gpt-4o', aiProvider: 'openai', apiKey: OWN });
  const { body } = await said(agentId);
  assert.equal(body.reply, 'on your account');
  assert.equal(openai.requests.length, 1);
  assert.equal(openai.requests[0]?.headers.authorization, `Bearer ${OWN}`);
  // gpt-4o is not part of the plan: whoever pays for it chooses it.
  assert.equal(openai.requests[0]?.body['model'], 'gpt-4o');
  assert.equal(platform.requests.length, 0);
  const [row] = await usageOf(agentId);
  assert.deepEqual(
    [row?.provider, row?.model, Number(row?.cost_micros), row?.success],
    ['openai', 'openai/gpt-4o', 0, true],
  );
  assert.ok(Number(row?.input_tokens) > 0);
});

test('a provider that does not have the agent’s model serves its own choice, in its own format', async () => {
  anthropic.answer((_request, response) =>
    replyJson(response, {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'from the vendor' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 4 },
    }),
  );
  const agentId = await made({ model: 'openai/gpt-4o-mini', aiProvider: 'anthropic', apiKey: OWN });
  assert.equal((await said(agentId)).body.reply, 'from the vendor');
  assert.equal(anthropic.requests[0]?.headers['x-api-key'], OWN);
  assert.match(String(anthropic.requests[0]?.body['model']), /^claude/);
});

test('a key that is refused is told without the key, and the platform does not step in', async () => {
  openai.answer((_request, response) => replyJson(response, { error: { message: `Incorrect key: ${OWN}` } }, 401));
  const agentId = await made({ model: 'openai/gpt-4o-mini', aiProvider: 'openai', apiKey: OWN });
  const { status, body } = await said(agentId);
  assert.ok(status >= 400 || /openai answered 401/.test(JSON.stringify(body)), JSON.stringify(body));
  assert.match(JSON.stringify(body), /openai answered 401/);
  assert.doesNotMatch(JSON.stringify(body), /sk-own/);
  const stream = { accept: 'text/event-stream' };
  const streamed = String((await ada.ask('POST', '/api/chat', { message: 'Hello', agentId }, stream)).body);
  assert.match(streamed, /event: error\ndata: \{"error":"[^"]*openai answered 401/);
  assert.doesNotMatch(streamed, /event: done|sk-own/);
  assert.equal(platform.requests.length, 0);
});

test('another provider is taken over at once, and the key does not go there', async () => {
  const agentId = await made({ model: 'openai/gpt-4o-mini', aiProvider: 'openai', apiKey: OWN });
  assert.equal((await said(agentId)).body.reply, 'on your account');
  const changed = await askBackend(services, 'PUT', `/api/agents/${agentId}`, { aiProvider: 'anthropic' });
  assert.equal(changed.body.aiProvider, 'anthropic');
  assert.equal((await said(agentId)).status, 200);
  assert.deepEqual([openai.requests.length, platform.requests.length], [1, 1]);
  const elsewhere = [...platform.requests, ...anthropic.requests].map(({ headers }) => headers);
  assert.ok(!JSON.stringify(elsewhere).includes(OWN));
});

test('an agent that runs elsewhere thinks on it through /v1 with its own token', async () => {
  const agentId = await made({ model: 'openai/gpt-4o-mini', aiProvider: 'openai', apiKey: OWN });
  const { token } = (await ada.ask('GET', `/api/agents/${agentId}/token`)).body;
  const { status, body } = await send(
    `${services.backend}/v1/chat/completions`,
    'POST',
    { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] },
    { authorization: `Bearer sk_${token}` },
  );
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(openai.requests.at(-1)?.headers.authorization, `Bearer ${OWN}`);
  assert.equal(platform.requests.length, 0);
});

test('the key is in no reply, no prompt, no log and no readable column', async () => {
  const agentId = await made({ model: 'openai/gpt-4o-mini', aiProvider: 'openai', apiKey: OWN });
  await said(agentId);
  const { token } = (await ada.ask('GET', `/api/agents/${agentId}/token`)).body;
  const gateway = (path: string) =>
    send(`${services.backend}/api/runtime/proxy/${agentId}${path}`, 'GET', undefined, {
      ...ada.headers(),
      authorization: `Bearer ${token}`,
    });
  const replies = await Promise.all([
    ada.ask('GET', '/api/agents/provision'),
    ada.ask('GET', `/api/agents/${agentId}`),
    ada.ask('GET', `/api/agents/${agentId}/config`),
    ada.ask('GET', `/api/agents/${agentId}/logs`),
    ada.ask('GET', `/api/agents/${agentId}/messages`),
    gateway('/definition'),
    gateway('/config'),
    gateway('/sessions'),
  ]);
  assert.doesNotMatch(JSON.stringify(replies), /sk-own/);
  assert.doesNotMatch(JSON.stringify(openai.requests.map(({ body }) => body)), /sk-own/);
  const { rows } = await sql<{ text: string }>`select a::text || d::text as text from agents a
    join agent_definitions d on d.agent_id = a.id where a.id = ${agentId}`.execute(services.runtime.db.system);
  assert.ok(rows.length > 0);
  assert.doesNotMatch(rows[0]!.text, /sk-own/);
  assert.ok(!rows[0]!.text.includes(Buffer.from(OWN).toString('hex')));
});

test('provisioning with channels and deployments take it too', async () => {
  const provisioned = await send(
    `${services.backend}/api/provision`,
    'POST',
    { aiProvider: 'openai', apiKey: OWN, model: 'openai/gpt-4o-mini', autoProvision: true, plan: 'solo' },
    { ...ada.headers(), 'x-user-id': ada.id },
  );
  assert.equal(provisioned.status, 200, JSON.stringify(provisioned.body));
  assert.doesNotMatch(JSON.stringify(provisioned.body), /sk-own/);
  await said(provisioned.body.agentId);
  assert.equal(openai.requests.at(-1)?.headers.authorization, `Bearer ${OWN}`);

  openai.requests.length = 0;
  const deployed = await send(
    `${services.backend}/api/deployments`,
    'POST',
    { agentId: 'own-deployed', config: { plan: 'solo', aiProvider: 'openai', apiKey: OWN } },
    ada.headers(),
  );
  assert.equal(deployed.status, 201);
  await send(
    `${services.backend}/api/runtime/proxy/own-deployed/v1/chat/completions`,
    'POST',
    { messages: [{ role: 'user', content: 'Hi' }] },
    ada.headers(),
  );
  assert.equal(openai.requests.at(-1)?.headers.authorization, `Bearer ${OWN}`);
});
