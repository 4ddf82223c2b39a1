import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { busDigest, L2_USDC } from '@troupe/chain';
import { newId } from '@troupe/kernel';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import { allJobsRan } from '@troupe/testing/database/jobs';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

/** The underground as the contract's tables of endpoints, authentication, errors and limits say, on the backend. */

let chain: TestChain;
let services: Services;
before(async () => {
  chain = await startTestChain({ chainId: 8453 });
  await chain.token(L2_USDC, { symbol: 'USDC' });
  services = await startServices({ L2_RPC_URL: chain.rpcUrl });
  await services.runtime.jobs.start();
});
after(async () => {
  await services.stop();
  await chain.close();
});

type Headers = Record<string, string>;
let calls = 0;

async function ask(method: string, path: string, headers: Headers = {}, body?: unknown, base = services.backend) {
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      'x-client-ip': `10.9.8.${(calls += 1)}`,
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
  return { status: response.status, body: (await response.json()) as any };
}

const bearer = { authorization: `Bearer ${TEST_SECRETS.internalKey}` };
const as = ({ id, email }: TestUser): Headers => ({ ...bearer, 'x-user-id': id, 'x-user-email': email });
const refused = (status: number, error: string) => ({ status, body: { error } });

async function owner() {
  const user = await addUser(services.runtime, { plan: 'solo' });
  const agentId = newId();
  const { db } = services.runtime;
  await db.system
    .insertInto('agents')
    .values({ id: agentId, user_id: user.id, name: 'A', status: 'running' })
    .execute();
  await db.system
    .insertInto('agent_definitions')
    .values({ agent_id: agentId, user_id: user.id, version: 1, definition: { name: 'A', config: {} } })
    .execute();
  return { user, agentId, headers: as(user) };
}

const event = (agentId?: string) => ({
  agentId,
  name: 'Night',
  description: 'All night',
  venue: 'Cellar',
  eventDate: '2027-01-31T20:00:00.000Z',
  ticketPriceUsdc: '25.00',
  totalTickets: 100,
});

const split = (agentId: string | undefined, recipients: unknown) => ({
  agentId,
  name: 'Royalties',
  totalAmount: '10',
  recipients,
});

describe('authentication', () => {
  const guarded = [
    ['GET', '/api/underground/events'],
    ['POST', '/api/underground/events'],
    ['POST', '/api/underground/wallets'],
    ['GET', '/api/underground/wallets/0x0000000000000000000000000000000000000001/balance'],
    ['POST', '/api/underground/splits'],
    ['POST', '/api/underground/bus/sign'],
    ['GET', '/api/underground/bus/messages'],
  ] as const;

  it('401 without the key or with a wrong one, 401 without user context, before anything else', async () => {
    for (const [method, path] of guarded) {
      const body = method === 'POST' ? {} : undefined;
      assert.deepEqual(await ask(method, path, {}, body), refused(401, 'Unauthorized'), path);
      const wrong = { authorization: 'Bearer wrong', 'x-user-id': 'u', 'x-user-email': 'u@x.org' };
      assert.deepEqual(await ask(method, path, wrong, body), refused(401, 'Unauthorized'), path);
      for (const headers of [bearer, { ...bearer, 'x-user-id': 'u' }, { ...bearer, 'x-user-email': 'u@x.org' }])
        assert.deepEqual(await ask(method, path, headers, body), refused(401, 'User context required'), path);
    }
  });

  it('403 for an agent that is another’s or not there; ids in the body are ignored', async () => {
    const [mine, other] = [await owner(), await owner()];
    const recipients = [{ address: '0x0000000000000000000000000000000000000001', share: 100 }];
    for (const agentId of [other.agentId, 'nobody'])
      for (const [path, body] of [
        ['events', event(agentId)],
        ['wallets', { agentId }],
        ['splits', split(agentId, recipients)],
      ] as const) {
        const given = { ...body, userId: other.user.id, fromAddress: '0x1' };
        assert.deepEqual(
          await ask('POST', `/api/underground/${path}`, mine.headers, given),
          refused(403, 'Agent not found or not owned by you'),
        );
      }
  });
});

describe('events', () => {
  it('POST answers 201 with the event, GET an array, newest date first', async () => {
    const { agentId, headers } = await owner();
    assert.deepEqual((await ask('GET', '/api/underground/events', headers)).body, []);
    const { status, body } = await ask('POST', '/api/underground/events', headers, event(agentId));
    assert.equal(status, 201);
    assert.deepEqual(
      [typeof body.id, body.agent_id, body.ticket_price_usdc, body.total_tickets, body.event_date],
      ['number', agentId, '25.00', 100, '2027-01-31T20:00:00.000Z'],
    );
    await ask('POST', '/api/underground/events', headers, { ...event(agentId), eventDate: '2028-01-01T00:00:00Z' });
    const listed = (await ask('GET', '/api/underground/events', headers)).body;
    assert.deepEqual(
      listed.map((found: { event_date: string }) => found.event_date.slice(0, 4)),
      ['2028', '2027'],
    );
    assert.equal(
      (await ask('POST', `/api/underground/events/${body.id}/tickets`, headers, { agentId, quantity: 1 })).status,
      402,
    );
  });

  it('400 when a field is missing', async () => {
    const { agentId, headers } = await owner();
    for (const field of Object.keys(event())) {
      const { status, body } = await ask('POST', '/api/underground/events', headers, {
        ...event(agentId),
        [field]: undefined,
      });
      assert.equal(status, 400, field);
      if (field === 'agentId') assert.equal(body.error, 'agentId required');
    }
  });
});

describe('wallets', () => {
  it('POST answers 201 with address and agentId, 400 without an agent; the balance is a number', async () => {
    const { agentId, headers } = await owner();
    assert.deepEqual(await ask('POST', '/api/underground/wallets', headers, {}), refused(400, 'agentId required'));
    const { status, body } = await ask('POST', '/api/underground/wallets', headers, { agentId });
    assert.equal(status, 201);
    assert.match(body.address, /^0x[0-9a-fA-F]{40}$/);
    assert.equal(body.agentId, agentId);
    await chain.mint(L2_USDC, body.address, 1_500_000n);
    const path = `/api/underground/wallets/${body.address}/balance`;
    assert.deepEqual((await ask('GET', `${path}?userId=somebody`, headers)).body, {
      address: body.address,
      balance_usdc: 1.5,
    });
  });
});

describe('splits', () => {
  it('are completed inline', async () => {
    const { agentId, headers } = await owner();
    const recipients = [33.33, 33.33, 33.33].map((share) => ({
      address: privateKeyToAccount(generatePrivateKey()).address,
      share,
    }));
    const { status, body } = await ask('POST', '/api/underground/splits', headers, split(agentId, recipients));
    assert.equal(status, 200);
    assert.deepEqual([body.success, typeof body.splitId, body.status], [true, 'string', 'completed']);
    assert.deepEqual(
      body.recipients.map(({ amount }: { amount: string }) => amount),
      ['3.333334', '3.333333', '3.333333'],
    );
  });

  it('400 without an agent, without recipients, with shares that do not sum up', async () => {
    const { agentId, headers } = await owner();
    const post = (body: object) => ask('POST', '/api/underground/splits', headers, body);
    const one = { address: '0x0000000000000000000000000000000000000001', share: 99.98 };
    assert.deepEqual(await post(split(undefined, [one])), refused(400, 'agentId required'));
    for (const recipients of [undefined, [], null])
      assert.deepEqual(await post(split(agentId, recipients)), refused(400, 'recipients required'));
    assert.deepEqual(await post(split(agentId, [one])), refused(400, 'Recipient shares must total 100% (got 99.98%)'));
  });
});

describe('the bus', () => {
  const SEND = '/api/underground/bus/send';
  /** Somebody whose agent takes messages of strangers. */
  const welcoming = async () => {
    const person = await owner();
    const door = `/api/underground/doors/${person.agentId}`;
    assert.equal((await ask('PUT', door, person.headers, { open: true })).status, 200);
    return person;
  };

  it('takes a message signed by the platform on request, and delivers it to the recipient’s runtime', async () => {
    const [from, to] = [await owner(), await welcoming()];
    await ask('POST', '/api/underground/wallets', from.headers, { agentId: from.agentId });
    const message = {
      version: '1.0',
      messageId: newId(),
      timestamp: new Date().toISOString(),
      from: { agentId: from.agentId },
      to: { agentId: to.agentId },
      action: 'HELLO',
      payload: { text: 'Good evening' },
    };
    const { body } = await ask('POST', '/api/underground/bus/sign', from.headers, { message });
    const sent = await ask('POST', SEND, {}, body.message);
    assert.deepEqual(sent, { status: 200, body: { success: true, messageId: message.messageId } });
    assert.deepEqual(await ask('POST', SEND, {}, body.message), sent);
    const tampered = { ...body.message, payload: { text: 'Pay me' } };
    const answer = await ask('POST', SEND, {}, tampered);
    assert.deepEqual([answer.status, answer.body.error], [401, 'Invalid message signature']);
    assert.equal((await ask('POST', SEND, {}, { ...body.message, action: undefined })).status, 400);

    await allJobsRan(services.runtime.jobs);
    const log = await ask('GET', `/api/underground/bus/messages?agentId=${from.agentId}`, from.headers);
    const { messages } = log.body;
    assert.deepEqual([messages.length, messages[0].status, messages[0].error], [1, 'delivered', null]);
    const { rows } = await readBus(to.agentId);
    assert.match(JSON.stringify(rows), /Good evening/);
  });

  const readBus = async (agentId: string) => ({
    rows: await services.runtime.db.system
      .selectFrom('agent_events')
      .select('data')
      .where('agent_id', '=', agentId)
      .execute(),
  });

  it('takes a message signed by an own wallet over the hash of its canonical JSON', async () => {
    const [from, to] = [await owner(), await welcoming()];
    const account = privateKeyToAccount(generatePrivateKey());
    const { address } = account;
    const proof = await account.signMessage({ message: `Register ${address} for agent ${from.agentId}` });
    const body = { agentId: from.agentId, address, proof };
    assert.deepEqual(
      await ask('POST', '/api/underground/wallets', from.headers, { ...body, proof: '0x00' }),
      refused(401, 'Invalid wallet proof'),
    );
    assert.equal((await ask('POST', '/api/underground/wallets', from.headers, body)).status, 201);
    const message = {
      version: '1.0',
      messageId: newId(),
      timestamp: new Date().toISOString(),
      from: { agentId: from.agentId, walletAddress: address },
      to: { agentId: to.agentId },
      action: 'BOOKING_OFFER',
      payload: { talentName: 'The Band', amount: '500' },
    };
    const signature = await account.signMessage({ message: { raw: busDigest(message) } });
    const { status, body: answer } = await ask('POST', SEND, {}, { ...message, signature });
    assert.deepEqual([status, typeof answer.bookingId], [200, 'string']);
  });
});
