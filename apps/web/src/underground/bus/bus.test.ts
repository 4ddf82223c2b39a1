import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '@troupe/kernel';
import { NOT_YOURS, startUnderground, UNAUTHORIZED, type Owner } from '../testing.ts';

let world: Awaited<ReturnType<typeof startUnderground>>;
let ann: Owner;
let ben: Owner;
before(async () => {
  world = await startUnderground();
  ann = await world.owner();
  ben = await world.owner();
});
after(() => world.stop());

const hello = (from: Owner, to: Owner, action = 'HELLO', payload: object = { text: 'Good evening' }) => ({
  version: '1.0',
  messageId: newId(),
  timestamp: new Date().toISOString(),
  from: { agentId: from.agentId },
  to: { agentId: to.agentId },
  action,
  payload,
});

test('the owner opens a door; a message that the platform signed goes through it, and both see it', async () => {
  const closed = (await ben.at('GET', `doors/${ben.agentId}`)).body;
  assert.equal(closed.open, false);
  assert.equal((await ben.at('PUT', `doors/${ben.agentId}`, { open: true })).body.open, true);
  await ann.at('POST', 'wallets', { agentId: ann.agentId });
  const signed = await ann.at('POST', 'bus/sign', { message: hello(ann, ben) });
  assert.equal(signed.status, 200, JSON.stringify(signed.body));
  const { message } = signed.body;
  const sent = await world.asStranger('POST', 'bus/send', message);
  assert.deepEqual(sent, { status: 200, body: { success: true, messageId: message.messageId } });
  for (const who of [ann, ben]) {
    const { messages, count } = (await who.at('GET', 'bus/messages?limit=5')).body;
    assert.deepEqual([count, messages[0].messageId], [1, message.messageId]);
  }
  const forged = await world.asStranger('POST', 'bus/send', { ...message, payload: { text: 'Pay me' } });
  assert.deepEqual([forged.status, forged.body.error], [401, 'Invalid message signature']);
});

test('refuses another’s agent and door, and nobody', async () => {
  assert.deepEqual(await ben.at('POST', 'bus/sign', { message: hello(ann, ben) }), NOT_YOURS);
  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', { open: false }],
  ] as const)
    assert.equal((await ann.at(method, `doors/${ben.agentId}`, body)).status, 403, method);
  assert.deepEqual(await world.asStranger('GET', 'bus/messages'), UNAUTHORIZED);
});
