import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { BusMessage } from '@troupe/contract';
import { newId } from '@troupe/kernel';
import { createParties } from '../bus-testing.ts';
import { startUnderground } from '../testing.ts';

const delivered: BusMessage[] = [];
const world = await startUnderground({
  deliver: async (_agent, message) => void delivered.push(message),
});
const { party, setDoor, signed, send, sent, logOf, ended } = createParties(world);
after(() => world.stop());

describe('sending', () => {
  test('a signed message reaches the recipient’s runtime, and both owners see it', async () => {
    const [from, to, stranger] = [await party(), await party(), await party()];
    const message = await signed(from, to, 'HELLO', { text: 'Grüße 🎷' });
    assert.deepEqual(await send(message), { status: 200, body: { success: true, messageId: message.messageId } });
    assert.equal((await ended(from, message.messageId)).status, 'delivered');
    assert.deepEqual(delivered.at(-1), { ...message, metadata: {} });
    const seen = await logOf(to, message.messageId);
    assert.deepEqual([seen.direction, seen.attempts, seen.error], ['received', 1, null]);
    assert.equal(await logOf(stranger, message.messageId), undefined);
  });

  test('a repeat answers success and delivers nothing, ten at once too', async () => {
    const [from, to] = [await party(), await party()];
    const message = await signed(from, to, 'HELLO', {});
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(message)));
    for (const { status, body } of answers)
      assert.deepEqual([status, body], [200, { success: true, messageId: message.messageId }]);
    await ended(from, message.messageId);
    assert.equal(delivered.filter(({ messageId }) => messageId === message.messageId).length, 1);
    const other = await signed(to, from, 'HELLO', {}, { messageId: message.messageId });
    assert.equal((await send(other)).status, 200);
    assert.equal((await ended(to, message.messageId)).status, 'delivered');
  });

  test('401: forged, changed, another’s wallet, too old, from the future', async () => {
    const [from, to] = [await party(), await party()];
    const good = await signed(from, to, 'HELLO', { a: 1 });
    const away = (ms: number) => ({ timestamp: new Date(Date.now() + ms).toISOString() });
    const bad = [
      { ...good, payload: { a: 2 } },
      { ...good, signature: '0x12' },
      { ...good, signature: `0x${'11'.repeat(65)}` },
      { ...good, extra: 'not signed' },
      { ...good, from: { ...good.from, agentId: to.agentId } },
      { ...good, from: { ...good.from, agentId: 'nobody' } },
      await signed(to, from, 'HELLO', {}, { from: { agentId: from.agentId, walletAddress: to.account.address } }),
      await signed(from, to, 'HELLO', {}, away(-5 * 60_000 - 1000)),
      await signed(from, to, 'HELLO', {}, away(6 * 60_000)),
    ];
    for (const message of bad) {
      const { status, body } = await send(message);
      assert.deepEqual([status, body.error], [401, 'Invalid message signature']);
    }
    assert.equal((await send({ ...good, metadata: { hop: 'carriers may add this' } })).status, 200);
  });

  test('400: a missing or malformed field', async () => {
    const [from, to] = [await party(), await party()];
    const good = await signed(from, to, 'HELLO', {});
    for (const field of ['version', 'messageId', 'timestamp', 'from', 'to', 'action', 'payload', 'signature']) {
      const { status, body } = await send({ ...good, [field]: undefined });
      assert.deepEqual([status, typeof body.error], [400, 'string'], field);
      assert.ok(body.error.startsWith(field), body.error);
    }
    assert.equal((await send({ ...good, timestamp: 'yesterday' })).status, 400);
    assert.equal((await send({ ...good, messageId: 'a\u0000b' })).status, 400);
    assert.deepEqual(await send(await signed(from, to, 'HELLO', {}, { to: { agentId: 'nobody' } })), {
      status: 404,
      body: { error: 'Recipient agent not found' },
    });
  });

  test('429 beyond the plan’s messages of a day, exactly, also at once', async () => {
    const [from, to] = [await party(), await party()];
    const day = new Date().toISOString().slice(0, 10);
    await world.runtime.db.system
      .insertInto('bus_days')
      .values({ user_id: from.person.id, day, messages: 97 })
      .execute();
    const answers = await Promise.all(Array.from({ length: 6 }, () => sent(from, to, 'HELLO', {})));
    assert.equal(answers.filter(({ status }) => status === 200).length, 3);
    const refused = answers.find(({ status }) => status !== 200);
    assert.deepEqual(refused, { status: 429, body: { error: 'Daily message limit reached (100 on your plan)' } });
  });
});

describe('an agent’s door', () => {
  const STRANGERS =
    'The agent takes no messages from strangers. Its owner can add your agent to its contacts or open its door.';

  test('is closed to strangers, and they leave nothing behind', async () => {
    const [from, to] = [await party(), await party({ door: 'closed' })];
    for (const [action, payload] of [
      ['HELLO', {}],
      ['BOOKING_OFFER', { talentName: 'X', amount: 1 }],
      ['AMPLIFY_REQUEST', { content: 'Listen!', reward: '1' }],
    ] as const)
      assert.deepEqual(await sent(from, to, action, payload), { status: 403, body: { error: STRANGERS } }, action);
    assert.equal((await world.ask('GET', '/api/underground/bus/messages', to.person)).body.count, 0);
    assert.equal((await world.ask('GET', '/api/underground/bookings', to.person)).body.count, 0);
  });

  test('is always open to the owner’s own agents, and to an answer', async () => {
    const to = await party({ door: 'closed' });
    const own = await party({ person: to.person, door: 'closed' });
    assert.equal((await sent(own, to, 'HELLO', {})).status, 200);
    const other = await party();
    assert.equal((await sent(other, to, 'HELLO', {})).status, 403);
    assert.equal((await sent(to, other, 'HELLO', {})).status, 200);
    assert.equal((await sent(other, to, 'HELLO', {})).status, 200);
  });

  test('lets contacts in, each within the budget', async () => {
    const [from, to, stranger] = [await party(), await party({ door: 'closed' }), await party()];
    const door = await setDoor(to, { contacts: [from.agentId, from.agentId], messagesPerSender: 2 });
    assert.deepEqual(door, {
      agentId: to.agentId,
      open: false,
      contacts: [from.agentId],
      messagesPerDay: 100,
      messagesPerSender: 2,
      usedToday: 0,
    });
    assert.equal((await sent(stranger, to, 'HELLO', {})).status, 403);
    const answers = await Promise.all(Array.from({ length: 5 }, () => sent(from, to, 'HELLO', {})));
    assert.equal(answers.filter(({ status }) => status === 200).length, 2);
    assert.deepEqual(
      answers.find(({ status }) => status !== 200),
      {
        status: 429,
        body: { error: 'The agent takes 2 messages a day from one sender' },
      },
    );
    assert.equal((await world.ask('GET', `/api/underground/doors/${to.agentId}`, to.person)).body.usedToday, 2);
  });

  test('an open one takes so many a day from all others together', async () => {
    const to = await party({ door: 'closed' });
    await setDoor(to, { open: true, messagesPerDay: 2 });
    for (const status of [200, 200, 429]) assert.equal((await sent(await party(), to, 'HELLO', {})).status, status);
  });

  test('is its owner’s to see and to set, and says what is wrong with what it is given', async () => {
    const [to, other] = [await party(), await party()];
    const path = `/api/underground/doors/${to.agentId}`;
    assert.equal((await world.ask('GET', path, other.person)).status, 403);
    assert.equal((await world.ask('PUT', path, other.person, { open: true })).status, 403);
    assert.match((await world.ask('PUT', path, to.person, { open: 'yes' })).body.error, /open must be true or false/);
    const many = Array.from({ length: 201 }, (_, n) => `agent-${n}`);
    assert.match((await world.ask('PUT', path, to.person, { contacts: many })).body.error, /max 200/);
  });

  test('413: a message is at most 16 KB', async () => {
    const [from, to] = [await party(), await party()];
    const fits = await sent(from, to, 'HELLO', { text: 'x'.repeat(15_000) });
    assert.equal(fits.status, 200);
    const big = await sent(from, to, 'HELLO', { text: 'ä'.repeat(8_100) });
    assert.deepEqual(big, { status: 413, body: { error: 'Message too large (max 16 KB)' } });
  });
});

describe('signing', () => {
  test('the platform’s wallet is made once, and signs on request', async () => {
    const person = await world.person();
    const agentId = await world.agent(person);
    const to = await party();
    const make = () =>
      world.ask('POST', '/api/underground/wallets', person, { agentId, userId: 'x', fromAddress: 'y' });
    const [made, again] = [await make(), await make()];
    assert.deepEqual([made.status, again.status, again.body.address], [201, 200, made.body.address]);
    assert.deepEqual([made.body.agentId, made.body.kind], [agentId, 'platform']);
    const message = {
      version: '1.0',
      messageId: newId(),
      timestamp: new Date().toISOString(),
      from: { agentId },
      to: { agentId: to.agentId },
      action: 'HELLO',
      payload: { n: 1.5 },
    };
    const { status, body } = await world.ask('POST', '/api/underground/bus/sign', person, { message });
    assert.equal(status, 200);
    assert.equal(body.message.from.walletAddress, made.body.address);
    assert.equal((await send(body.message)).status, 200);
    const stranger = await world.person();
    assert.deepEqual(await world.ask('POST', '/api/underground/bus/sign', stranger, { message }), {
      status: 403,
      body: { error: 'Agent not found or not owned by you' },
    });
  });
});
