import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { person, provisioned, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let model: StandIn;
let ann: Person;
let id = '';
before(async () => {
  model = await createStandIn((request, response) =>
    replyChat(request, response, { content: `${String(request.body['model'])} says hello` }),
  );
  services = await startServices({ OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: model.url });
  ann = await person(services, { plan: 'label' });
  id = await provisioned(ann);
});
after(async () => {
  await services.stop();
  await model.close();
});

const sides = () => [
  { agentId: id, model: 'xiaomi/mimo-v2-pro' },
  { agentId: id, model: 'openai/gpt-4o-mini' },
];

async function wordsOf(sessionId: string): Promise<string | undefined> {
  for (;;) {
    const { session, events } = (await ann.ask('GET', `/api/agents/${id}/sessions/${sessionId}`)).body;
    if (session.status === 'idle')
      return events.findLast(({ type }: { type: string }) => type === 'assistant')?.content;
    await delay(30);
  }
}

test('each answers in a conversation of its own, once, with what it cost', async () => {
  const asked = { id: 'one', message: 'Hello?', sides: sides() };
  const { status, body } = await ann.ask('POST', '/api/compare', asked);
  assert.equal(status, 202, JSON.stringify(body));
  const ids: string[] = body.sides.map(({ sessionId }: { sessionId: string }) => sessionId);
  assert.equal(new Set(ids).size, 2);
  assert.deepEqual(await Promise.all(ids.map(wordsOf)), [
    'xiaomi/mimo-v2-pro says hello',
    'openai/gpt-4o-mini says hello',
  ]);
  const { events } = (await ann.ask('GET', `/api/agents/${id}/sessions/${ids[0]}`)).body;
  const { spent } = events.find(({ type }: { type: string }) => type === 'assistant');
  assert.ok(spent.costMicros > 0 && spent.ms >= 0);
  // The same again is the same comparison: nothing is paid twice.
  const calls = model.requests.length;
  assert.deepEqual((await ann.ask('POST', '/api/compare', asked)).body, body);
  assert.equal(model.requests.length, calls);
});

test('what is wrong with one is said before any is asked', async () => {
  const calls = model.requests.length;
  const ask = (change: object) =>
    ann.ask('POST', '/api/compare', { id: 'x', message: 'Hi', sides: sides(), ...change });
  assert.deepEqual((await ask({ sides: sides().slice(1) })).body, { error: 'Compare two to 6' });
  assert.deepEqual((await ask({ message: ' ' })).body, { error: 'Message required' });
  assert.deepEqual((await ask({ id: '../x' })).body, { error: 'id must be letters, digits and dashes' });
  const nobody = await ask({ sides: [...sides(), { agentId: id, model: 'nobody/knows' }] });
  assert.equal(nobody.status, 400);
  const ben = await person(services, { plan: 'label' });
  const foreign = [sides()[0], { agentId: await provisioned(ben) }];
  assert.deepEqual(await ask({ sides: foreign }), { status: 404, body: { error: 'Agent not found' } });
  assert.equal(model.requests.length, calls);
});
