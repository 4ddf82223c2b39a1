import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { person, provisioned, send, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let ann: Person;
let ben: Person;
let id: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'label' });
  ben = await person(services, { plan: 'solo' });
  id = await provisioned(ann);
});
after(() => services.stop());

test('chat answers for real, keeps its history, and streams when asked', async () => {
  const said = await ann.ask('POST', '/api/chat', { message: 'remember the sky is green', topic: 'sky' });
  assert.equal(said.status, 200);
  assert.deepEqual(
    [said.body.message, said.body.topic, said.body.status],
    ['remember the sky is green', 'sky', 'sent'],
  );
  assert.match(said.body.reply, /sandbox/);
  assert.deepEqual(Object.keys(said.body).sort(), ['id', 'message', 'reply', 'status', 'timestamp', 'topic']);
  const history = await ann.ask('GET', '/api/chat?limit=10');
  assert.deepEqual(Object.keys(history.body).sort(), ['count', 'messages']);
  assert.equal(history.body.count, history.body.messages.length);
  for (const [sender, content] of [
    ['user', said.body.message],
    ['agent', said.body.reply],
  ])
    assert.ok(
      history.body.messages.some((one: Body) => one.sender === sender && one.content === content),
      JSON.stringify(history.body),
    );
  assert.equal((await ann.ask('GET', '/api/chat?limit=1')).body.count, 1);
  assert.deepEqual(await ann.ask('POST', '/api/chat', { message: '  ' }), {
    status: 400,
    body: { error: 'Message required' },
  });
  const nobody = await person(services, { plan: 'solo' });
  assert.deepEqual(await nobody.ask('POST', '/api/chat', { message: 'hi' }), {
    status: 404,
    body: { error: 'No agent deployed' },
  });
  const streamed = await ann.ask('POST', '/api/chat', { message: 'hi' }, { accept: 'text/event-stream' });
  const told = [...String(streamed.body).matchAll(/^event: (\w+)\n(?:id: .*\n)?data: (.*)$/gm)].map(
    ([, event, data]) => ({ event, ...(JSON.parse(data!) as { text?: string; reply?: string }) }),
  );
  const pieces = told.filter(({ event }) => event === 'delta').map(({ text }) => text);
  assert.ok(pieces.length > 1, streamed.body);
  assert.deepEqual([told[0]?.event, told.at(-1)?.event], ['start', 'done']);
  assert.equal(pieces.join(''), told.at(-1)?.reply);
  assert.match(told.at(-1)?.reply ?? '', /sandbox/);
});

test('another user’s agent is not talked to, and nobody without a session talks', async () => {
  const none = { status: 404, body: { error: 'No agent deployed' } };
  assert.deepEqual(await ben.ask('POST', '/api/chat', { agentId: id, message: 'hi' }), none);
  assert.equal((await ben.ask('GET', `/api/chat?agentId=${id}`)).status, 404);
  assert.equal((await send(`${services.web}/api/chat`, 'POST', { message: 'hi' })).status, 401);
});
