import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createOutbound, newId } from '@troupe/kernel';
import { signBusMessage, walletProofMessage } from '@troupe/chain';
import type { BusMessage } from '@troupe/contract';
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts';
import { startUnderground, type Person } from './testing.ts';

let world: Awaited<ReturnType<typeof startUnderground>>;
const delivered: BusMessage[] = [];
let failures = 0;
/** The runtime never answers. */
let hangs = false;

/** A webhook's server; the public name leads to it, everything else to what the guarded client makes of it. */
let hook: Server;
const received: { path?: string; headers: Record<string, unknown>; body: BusMessage }[] = [];
let answer: { status: number; headers?: Record<string, string> } = { status: 200 };

before(async () => {
  hook = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      received.push({ path: request.url, headers: request.headers, body: JSON.parse(text) as BusMessage });
      response.writeHead(answer.status, answer.headers).end();
    });
  }).listen(0, '127.0.0.1');
  await once(hook, 'listening');
  const port = (hook.address() as AddressInfo).port;
  const local = createOutbound({ allowLoopback: true });
  const guarded = createOutbound();
  world = await startUnderground({
    retries: 1,
    async deliver(_agent, message, signal) {
      if (hangs) await once(signal, 'abort');
      if (failures > 0) {
        failures -= 1;
        throw new Error('the runtime is busy');
      }
      delivered.push(message);
    },
    outbound: {
      fetch: (url, request) =>
        String(url).startsWith('https://hook.example/')
          ? local.fetch(`http://127.0.0.1:${port}/`, request)
          : guarded.fetch(url, request),
      close: async () => {
        await local.close();
        await guarded.close();
      },
    },
  });
});
after(async () => {
  await world.stop();
  hook.close();
});

const SEND = '/api/underground/bus/send';

interface Party {
  person: Person;
  agentId: string;
  account: PrivateKeyAccount;
}

/** An agent with an own wallet. */
async function party(given: { person?: Person; config?: object } = {}): Promise<Party> {
  const person = given.person ?? (await world.person());
  const agentId = await world.agent(person, given.config);
  const account = privateKeyToAccount(generatePrivateKey());
  const { address } = account;
  const proof = await account.signMessage({ message: walletProofMessage(address, agentId) });
  const { status } = await world.ask('POST', '/api/underground/wallets', person, { agentId, address, proof });
  assert.equal(status, 201);
  return { person, agentId, account };
}

const unsigned = (from: Party, to: Party, action: string, payload: unknown, given: object = {}) => ({
  version: '1.0',
  messageId: newId(),
  timestamp: new Date().toISOString(),
  from: { agentId: from.agentId, walletAddress: from.account.address },
  to: { agentId: to.agentId },
  action,
  payload,
  ...given,
});

async function signed(from: Party, to: Party, action: string, payload: unknown, given: object = {}) {
  const message = unsigned(from, to, action, payload, given);
  return { ...message, signature: await signBusMessage(from.account, message) };
}

const send = (message: object) => world.ask('POST', SEND, null, message);

async function sent(from: Party, to: Party, action: string, payload: unknown) {
  return send(await signed(from, to, action, payload));
}

async function until<T>(read: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> {
  const end = Date.now() + 30_000;
  for (;;) {
    const found = await read();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const logOf = async ({ person }: Party, messageId: string) =>
  (await world.ask('GET', '/api/underground/bus/messages', person)).body.messages.find(
    (message: { messageId: string }) => message.messageId === messageId,
  );

const ended = (who: Party, messageId: string) =>
  until(async () => {
    const found = await logOf(who, messageId);
    return found?.status === 'queued' ? undefined : found;
  }, `the end of ${messageId}`);

describe('sending', () => {
  test('a signed message reaches the recipient’s runtime, and both owners see it', async () => {
    const [from, to, stranger] = [await party(), await party(), await party()];
    const message = await signed(from, to, 'HELLO', { text: 'Grüße \u0000 🎷' });
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
      await signed(from, to, 'HELLO', {}, away(5 * 60_000 + 1000)),
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

describe('wallets and signing', () => {
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

  test('an own wallet needs a proof for this very agent', async () => {
    const { person, account, agentId } = await party();
    const other = await world.agent(person);
    const { address } = account;
    const proof = await account.signMessage({ message: walletProofMessage(address, agentId) });
    for (const given of [{ proof }, { proof: '0x00' }, { proof: undefined }])
      assert.deepEqual(
        await world.ask('POST', '/api/underground/wallets', person, { agentId: other, address, ...given }),
        {
          status: 401,
          body: { error: 'Invalid wallet proof' },
        },
      );
    const bad = await world.ask('POST', '/api/underground/wallets', person, { agentId, address: '0x12', proof });
    assert.deepEqual(bad, { status: 400, body: { error: 'Invalid address' } });
  });
});

describe('delivery', () => {
  const webhookUrl = 'https://hook.example/bus';

  test('to the webhook of the recipient, with the protocol’s version', async () => {
    const [from, to] = [await party(), await party({ config: { webhookUrl } })];
    const message = await signed(from, to, 'HELLO', { x: [1, 2] });
    await send(message);
    assert.equal((await ended(from, message.messageId)).status, 'delivered');
    const last = received.at(-1)!;
    assert.equal(last.headers['x-agent-protocol-version'], '1.0');
    assert.deepEqual(last.body, { ...message, metadata: {} });
  });

  test('a redirect is not followed, and the failure is reported to the sender', async () => {
    const before = received.length;
    const port = (hook.address() as AddressInfo).port;
    answer = { status: 302, headers: { location: `http://127.0.0.1:${port}/private` } };
    const [from, to] = [await party(), await party({ config: { webhookUrl } })];
    const message = await signed(from, to, 'HELLO', {});
    await send(message);
    const { status, error, attempts } = await ended(from, message.messageId);
    answer = { status: 200 };
    assert.deepEqual([status, error, attempts], ['failed', 'Webhook answered 302', 2]);
    assert.deepEqual(
      received.slice(before).map(({ path }) => path),
      ['/', '/'],
    );
    const notices = await world.runtime.db
      .user(from.person.id)
      .selectFrom('notices')
      .select(['kind', 'message'])
      .execute();
    assert.equal(notices.length, 1);
    assert.match(notices[0]!.message, /could not be delivered: Webhook answered 302/);
  });

  test('private addresses and plain http are refused, at once', async () => {
    const port = (hook.address() as AddressInfo).port;
    const before = received.length;
    for (const [url, why] of [
      [`https://127.0.0.1:${port}/`, 'Target address not allowed'],
      ['https://localhost/', 'Target address not allowed'],
      ['https://10.1.2.3/', 'Target address not allowed'],
      ['https://169.254.169.254/latest', 'Target address not allowed'],
      ['https://[::1]/', 'Target address not allowed'],
      [`http://127.0.0.1:${port}/`, 'Webhook must be an https address'],
      ['file:///etc/passwd', 'Webhook must be an https address'],
      ['https://', 'Invalid URL'],
    ]) {
      const [from, to] = [await party(), await party({ config: { webhookUrl: url } })];
      const message = await signed(from, to, 'HELLO', {});
      await send(message);
      const { status, error, attempts } = await ended(from, message.messageId);
      assert.deepEqual([status, error, attempts], ['failed', why, 1], url);
    }
    assert.equal(received.length, before);
  });

  test('whoever dies at the last try leaves a message that is reported, not one that waits for ever', async () => {
    const [from, to] = [await party(), await party()];
    const message = await signed(from, to, 'HELLO', {});
    hangs = true;
    await send(message);
    // Two tries are all; nobody comes back from either, and the queue hands the message on.
    for (const attempts of [1, 2]) {
      await until(
        async () => ((await logOf(from, message.messageId)).attempts === attempts ? true : undefined),
        'a try',
      );
      const { id } = await logOf(from, message.messageId);
      await world.runtime.jobs.send(world.runtime.db.system, 'bus-delivery', { id });
    }
    const { status, error } = await ended(from, message.messageId);
    hangs = false;
    assert.deepEqual([status, error], ['failed', 'Delivery was interrupted']);
    const notices = await world.runtime.db.user(from.person.id).selectFrom('notices').select('message').execute();
    assert.match(notices[0]!.message, /could not be delivered: Delivery was interrupted/);
  });

  test('is tried again when the runtime fails', async () => {
    const [from, to] = [await party(), await party()];
    failures = 1;
    const message = await signed(from, to, 'HELLO', {});
    await send(message);
    const { status, attempts, error } = await ended(from, message.messageId);
    assert.deepEqual([status, attempts, error], ['delivered', 2, null]);
  });
});

describe('negotiation', () => {
  test('a booking goes back and forth until one side accepts', async () => {
    const [band, club, stranger] = [await party(), await party(), await party()];
    const offer = await sent(club, band, 'BOOKING_OFFER', { talentName: 'The Band', amount: '500' });
    assert.equal(offer.status, 200);
    const { bookingId } = offer.body;
    const refuse = async (from: Party, to: Party, action: string, payload: object, status: number, error: string) =>
      assert.deepEqual(await sent(from, to, action, { bookingId, ...payload }), { status, body: { error } });
    await refuse(club, band, 'BOOKING_ACCEPT', {}, 409, 'Waiting for the other side');
    await refuse(stranger, club, 'BOOKING_ACCEPT', {}, 404, 'Booking not found');
    await refuse(band, stranger, 'BOOKING_ACCEPT', {}, 400, 'The message must go to the other side of the booking');
    await refuse(band, club, 'BOOKING_COUNTER', { amount: 'much' }, 400, 'Invalid amount');
    assert.equal((await sent(band, club, 'BOOKING_COUNTER', { bookingId, amount: 650.5 })).status, 200);
    assert.equal((await sent(club, band, 'BOOKING_ACCEPT', { bookingId })).status, 200);
    await refuse(band, club, 'BOOKING_DECLINE', {}, 409, 'Booking is accepted');
    for (const { person } of [band, club]) {
      const { body } = await world.ask('GET', '/api/underground/bookings', person);
      const [booking] = body.bookings;
      assert.deepEqual(
        [booking.id, booking.status, booking.amount, booking.talentName],
        [bookingId, 'accepted', '650.50', 'The Band'],
      );
    }
    assert.equal((await world.ask('GET', '/api/underground/bookings', stranger.person)).body.count, 0);
  });

  test('the other side is told the booking’s id; a refused message leaves nothing', async () => {
    const [from, to] = [await party(), await party()];
    const message = await signed(from, to, 'BOOKING_OFFER', { talentName: 'X', amount: 1 });
    const { body } = await send(message);
    await ended(from, message.messageId);
    assert.deepEqual(delivered.find(({ messageId }) => messageId === message.messageId)?.metadata, {
      bookingId: body.bookingId,
      bookingStatus: 'offered',
    });
    for (const amount of [-1, 0, '1,5', '1e3', ' 1', 1e21, 0.0000001, null, '9999999999999']) {
      const bad = await signed(from, to, 'BOOKING_OFFER', { talentName: 'X', amount });
      assert.deepEqual(await send(bad), { status: 400, body: { error: 'Invalid amount' } }, String(amount));
      assert.equal(await logOf(from, bad.messageId), undefined);
    }
    assert.equal((await sent(from, to, 'BOOKING_SING', {})).status, 400);
  });

  test('two answers at once: one counts', async () => {
    const [from, to] = [await party(), await party()];
    const { bookingId } = (await sent(from, to, 'BOOKING_OFFER', { talentName: 'X', amount: 1 })).body;
    const answers = await Promise.all(
      ['BOOKING_ACCEPT', 'BOOKING_DECLINE'].map((action) => sent(to, from, action, { bookingId })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409],
    );
  });

  test('amplification: requested, accepted, done, by the one that was asked', async () => {
    const [from, to] = [await party(), await party()];
    const { requestId } = (await sent(from, to, 'AMPLIFY_REQUEST', { content: 'Listen!', reward: '2.5' })).body;
    const move = (who: Party, other: Party, action: string) => sent(who, other, action, { requestId });
    assert.equal((await move(from, to, 'AMPLIFY_ACCEPT')).status, 409);
    assert.deepEqual((await move(to, from, 'AMPLIFY_DONE')).body, { error: 'Amplification is requested' });
    assert.equal((await move(to, from, 'AMPLIFY_ACCEPT')).status, 200);
    assert.equal((await move(to, from, 'AMPLIFY_DONE')).status, 200);
    const { body } = await world.ask('GET', '/api/underground/amplify', to.person);
    assert.deepEqual([body.requests[0].status, body.requests[0].reward], ['done', '2.50']);
  });
});
