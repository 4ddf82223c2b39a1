import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { hashTypedData } from 'viem';
import { randomHex } from '@troupe/kernel';
import { startWeb, type Person, type Reply, type TestWeb, type Visitor } from '@troupe/testing/services/web';

/** The payment rows of 4.7 and of the error table, as a client sees them. What clients sign is built here by hand. */

const SECRET = 'whsec_spec';
const SESSIONS = '/api/wallet/sessions';
const PAYEE = '0x00000000000000000000000000000000000000ee';
const wallet = privateKeyToAccount(generatePrivateKey());

let web: TestWeb;
let guest: Visitor;
let person: Person;
let checkouts = 0;
const processor = createServer((request, response) => {
  request.resume();
  const id = `cs_${(checkouts += 1)}`;
  response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify({ id, object: 'checkout.session', url: `https://pay.example/${id}` }));
});

before(async () => {
  await new Promise<void>((resolve) => processor.listen(0, '127.0.0.1', resolve));
  web = await startWeb({
    env: {
      BILLING_SECRET_KEY: 'sk_test_spec',
      BILLING_WEBHOOK_SECRET: SECRET,
      BILLING_API_BASE: `http://127.0.0.1:${(processor.address() as AddressInfo).port}`,
    },
  });
  guest = web.visitor();
  person = await web.signUp();
});
after(async () => {
  await web.stop();
  processor.close().closeAllConnections();
});

const told = (reply: Reply): [number, unknown] => [reply.status, reply.body.error];

describe('top-up', () => {
  const URL_OF = `/api/wallet/top-up?address=${wallet.address}`;

  test('checkout, webhook, ledger', async () => {
    const { status, body } = await guest.ask('GET', `${URL_OF}&amount=5000`);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['url', 'sessionId']);
    const event = JSON.stringify({
      id: 'evt_1',
      type: 'checkout.session.completed',
      data: {
        object: {
          id: body.sessionId,
          payment_status: 'paid',
          amount_total: 5000,
          currency: 'usd',
          metadata: { type: 'wallet_top_up', walletAddress: wallet.address, amountCents: '5000' },
        },
      },
    });
    const t = Math.floor(Date.now() / 1000);
    const signature = `t=${t},v1=${createHmac('sha256', SECRET).update(`${t}.${event}`).digest('hex')}`;
    const deliver = (header: string) => guest.ask('POST', '/api/wallet/top-up', event, { 'billing-signature': header });
    assert.deepEqual(told(await deliver(signature.replace(/.$/, 'x'))), [400, 'Invalid signature']);
    for (const reply of await Promise.all(Array.from({ length: 10 }, () => deliver(signature))))
      assert.deepEqual([reply.status, reply.body], [200, { received: true }]);
    const timestamp = String(Date.now());
    const message = `GET /api/wallet/ledger ${timestamp}`;
    const ledger = await guest.ask('GET', `/api/wallet/ledger?address=${wallet.address}`, undefined, {
      'x-wallet-timestamp': timestamp,
      'x-wallet-signature': await wallet.signMessage({ message }),
    });
    assert.deepEqual(Object.keys(ledger.body), ['address', 'balance', 'available', 'entries']);
    assert.deepEqual([ledger.body.balance, ledger.body.available, ledger.body.entries.length], ['50.00', '50.00', 1]);
  });

  test('errors', async () => {
    const amount = 'Invalid amount. Choose: 500, 1000, 2500, 5000 (cents)';
    assert.deepEqual(told(await guest.ask('GET', `${URL_OF}&amount=999`)), [400, amount]);
    assert.deepEqual(told(await guest.ask('GET', '/api/wallet/top-up')), [400, 'Valid wallet address required']);
    assert.deepEqual(told(await guest.ask('GET', '/api/wallet/ledger')), [400, 'Missing address parameter']);
    assert.deepEqual(told(await guest.ask('GET', `/api/wallet/ledger?address=${wallet.address}`)), [
      401,
      'Unauthorized',
    ]);
  });
});

describe('payment sessions', () => {
  async function voucher(sessionId: string, units: bigint) {
    const nonce = `0x${randomHex(32)}` as const;
    const hash = hashTypedData({
      domain: { name: 'Payment Session', version: '1', chainId: 4217 },
      types: {
        Voucher: [
          { name: 'sessionId', type: 'string' },
          { name: 'plugin', type: 'string' },
          { name: 'amount', type: 'uint256' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'Voucher',
      message: { sessionId, plugin: 'agent', amount: units, nonce },
    });
    return { sessionId, plugin: 'agent', nonce, userAddress: wallet.address, signature: await wallet.sign({ hash }) };
  }

  test('open, again, spend, read, list, close', async () => {
    const opened = await guest.ask('POST', SESSIONS, { address: wallet.address, deposit: '10.00' });
    assert.equal(opened.status, 201);
    const { session } = opened.body;
    assert.match(session.id, /^ses_[0-9a-f]{24}$/);
    for (const field of [
      'userAddress',
      'deposit',
      'spent',
      'remaining',
      'vouchers',
      'status',
      'createdAt',
      'lastSettledAt',
    ])
      assert.ok(field in session, field);
    const again = await guest.ask('POST', SESSIONS, { address: wallet.address, deposit: '10.00' });
    assert.deepEqual(
      [again.status, again.body.note, again.body.session.id],
      [200, 'Active session already exists', session.id],
    );
    const spent = await guest.ask('POST', `${SESSIONS}/voucher`, {
      ...(await voucher(session.id, 1_250_000n)),
      amount: '1.25',
    });
    assert.deepEqual(spent.body.session, { id: session.id, spent: '1.25', remaining: '8.75', pendingVouchers: 1 });
    const one = await guest.ask('GET', `${SESSIONS}?sessionId=${session.id}`);
    assert.deepEqual(Object.keys(one.body.session.vouchers[0]), ['plugin', 'timestamp', 'amount']);
    const all = await guest.ask('GET', `${SESSIONS}?address=${wallet.address}`);
    assert.equal(all.body.sessions.length, 1);
    const closed = await guest.ask('DELETE', `${SESSIONS}?sessionId=${session.id}`);
    assert.deepEqual([closed.status, closed.body], [200, { success: true, returned: '8.75', settled: '1.25' }]);
  });

  test('errors', async () => {
    const open = (body: object) => guest.ask('POST', SESSIONS, body);
    const { address } = wallet;
    assert.deepEqual(told(await open({})), [400, 'Missing address or deposit']);
    assert.deepEqual(told(await open({ address })), [400, 'Missing address or deposit']);
    assert.deepEqual(told(await open({ address, deposit: '0.99' })), [400, 'Minimum deposit is $1.00']);
    assert.deepEqual(told(await open({ address, deposit: '100.01' })), [400, 'Maximum deposit is $100.00']);
    assert.deepEqual(told(await guest.ask('GET', SESSIONS)), [400, 'Missing address parameter']);
    assert.deepEqual(told(await guest.ask('DELETE', SESSIONS)), [400, 'Missing sessionId']);
    for (const method of ['GET', 'DELETE'])
      assert.deepEqual(told(await guest.ask(method, `${SESSIONS}?sessionId=ses_0`)), [404, 'Session not found']);
  });
});

describe('/api/paygate', () => {
  const act = (by: Visitor, body: object) => by.ask('POST', '/api/paygate', body);

  test('status, and the actions', async () => {
    const { status, body } = await guest.ask('GET', '/api/paygate');
    assert.equal(status, 200);
    assert.ok('gateway' in body && 'status' in body);
    const { endpoints } = (await act(guest, { action: 'endpoints' })).body;
    assert.deepEqual(Object.keys(endpoints[0]), ['slug', 'description', 'price']);
    const fitness = (await act(person, { action: 'fitness', agentId: 'a' })).body;
    assert.deepEqual([fitness.score, fitness.tier], [32, 'low']);
    assert.deepEqual(Object.keys(fitness.details), ['prediction', 'execution', 'coordination']);
    const pricing = (await act(person, { action: 'pricing', agentId: 'a' })).body;
    assert.deepEqual(Object.keys(pricing), ['agentId', 'tier', 'pricing', 'fitness']);
    const joined = await act(person, { action: 'join-colony', agentId: 'a', walletAddress: PAYEE });
    assert.equal(joined.status, 200);
  });

  test('errors', async () => {
    const signIn = await act(guest, { action: 'pay' });
    assert.deepEqual([signIn.status, signIn.body], [401, { success: false, error: 'Authentication required' }]);
    const pay = (given: object) => act(person, { action: 'pay', agentId: 'a', amount: 1, recipient: PAYEE, ...given });
    const cases: [object, number, string][] = [
      [{ agentId: undefined, amount: 0 }, 400, 'agentId required'],
      [{ amount: 0 }, 400, 'Invalid amount'],
      [{ amount: 'x' }, 400, 'Invalid amount'],
      [{ amount: 100.5 }, 400, 'Amount exceeds $100 limit. Contact support for higher limits.'],
      [{ recipient: undefined }, 400, 'Recipient required'],
      [{ recipient: '0x1' }, 400, 'Invalid recipient address'],
      [{}, 402, 'Insufficient balance'],
    ];
    for (const [given, status, error] of cases) assert.deepEqual(told(await pay(given)), [status, error]);
    const bad = 'Invalid action. Use: join-colony, fitness, pricing, endpoints, or pay';
    assert.deepEqual(told(await act(person, { action: 'x' })), [400, bad]);
  });
});

describe('/api/v1/gateway', () => {
  const call = (headers: Record<string, string>, by: Visitor = guest) =>
    by.ask('POST', '/api/v1/gateway', { prompt: 'hi', plugin: 'generate-text' }, headers);

  test('errors', async () => {
    assert.deepEqual(told(await call({})), [402, 'payment_required']);
    assert.deepEqual(told(await call({ 'x-payment-method': 'session' })), [402, 'session_required']);
    assert.deepEqual(told(await call({ 'x-session-id': 'ses_0' })), [402, 'session_invalid']);
    const { session } = (await guest.ask('POST', SESSIONS, { address: PAYEE, deposit: '1' })).body;
    assert.deepEqual(told(await call({ 'x-session-id': session.id })), [402, 'voucher_required']);
    assert.deepEqual(told(await call({ 'x-payment-method': 'card' }, person)), [402, 'insufficient_balance']);
    assert.deepEqual(told(await call({ 'x-plugin-id': 'nope' })), [400, 'unknown_plugin']);
    assert.deepEqual(told(await call({ 'x-plugin-id': 'stt' })), [502, 'no_plugin']);
  });
});
