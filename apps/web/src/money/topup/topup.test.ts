import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { requestMessage } from '@troupe/chain';
import { verifyLedger } from '@troupe/ledger';
import { signedIn, testWeb, type TestWeb } from '../../testing.ts';

const SECRET = 'whsec_test';
const SECOND = 'whsec_of_the_second_address';
const owner = privateKeyToAccount(generatePrivateKey());

let web: TestWeb;
let checkouts = 0;
let asked: { path: string; body: URLSearchParams; authorization: string | undefined }[] = [];
let processorStatus = 200;

/** Speaks as the card processor does. */
const processor = createServer((request, response) => {
  void (async () => {
    let text = '';
    for await (const part of request) text += String(part);
    asked.push({
      path: request.url ?? '',
      body: new URLSearchParams(text),
      authorization: request.headers.authorization,
    });
    const id = `cs_test_${(checkouts += 1)}`;
    const body =
      processorStatus === 200
        ? { id, object: 'checkout.session', url: `https://pay.example/${id}` }
        : { error: { message: 'no' } };
    response.writeHead(processorStatus, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  })();
});

before(async () => {
  await new Promise<void>((resolve) => processor.listen(0, '127.0.0.1', resolve));
  web = await testWeb({
    env: {
      BILLING_SECRET_KEY: 'sk_test_x',
      BILLING_WEBHOOK_SECRET: `${SECRET}, ${SECOND}`,
      BILLING_API_BASE: `http://127.0.0.1:${(processor.address() as AddressInfo).port}`,
    },
  });
});
after(async () => {
  await web.stop();
  processor.close().closeAllConnections();
});
beforeEach(() => {
  asked = [];
  processorStatus = 200;
});

const get = async (url: string, headers: Record<string, string> = {}) => {
  const answer = await web.server.app.inject({ url, headers });
  return { status: answer.statusCode, body: answer.json() };
};
const open = async (amount: number, address: string = owner.address): Promise<string> =>
  (await get(`/api/wallet/top-up?amount=${amount}&address=${address}`)).body.sessionId as string;

const signed = (body: string, { at = Date.now(), secret = SECRET } = {}): string => {
  const t = Math.floor(at / 1000);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
};
async function deliver(body: string, signature: string = signed(body)) {
  const answer = await web.server.app.inject({
    method: 'POST',
    url: '/api/wallet/top-up',
    payload: body,
    headers: { 'content-type': 'application/json', 'billing-signature': signature },
  });
  return { status: answer.statusCode, body: answer.json() };
}
let events = 0;
const completed = (id: string, cents: number, given: Record<string, unknown> = {}, address: string = owner.address) =>
  JSON.stringify({
    id: `evt_${(events += 1)}`,
    object: 'event',
    type: 'checkout.session.completed',
    data: {
      object: {
        id,
        object: 'checkout.session',
        payment_status: 'paid',
        amount_total: cents,
        currency: 'usd',
        metadata: { type: 'wallet_top_up', walletAddress: address, amountCents: String(cents) },
        ...given,
      },
    },
  });
async function ledgerOf(account = owner) {
  const timestamp = String(Date.now());
  const signature = await account.signMessage({ message: requestMessage('GET', '/api/wallet/ledger', timestamp) });
  return get(`/api/wallet/ledger?address=${account.address}`, {
    'x-wallet-timestamp': timestamp,
    'x-wallet-signature': signature,
  });
}
const balance = async (account = owner): Promise<string> => (await ledgerOf(account)).body.balance;
const fresh = () => privateKeyToAccount(generatePrivateKey());

test('a checkout is opened at the processor, for the amount and the address', async () => {
  const { status, body } = await get(`/api/wallet/top-up?address=${owner.address}`);
  assert.equal(status, 200);
  assert.deepEqual(body, { url: `https://pay.example/${body.sessionId}`, sessionId: body.sessionId });
  const [request] = asked;
  assert.equal(request?.path, '/v1/checkout/sessions');
  assert.equal(request.authorization, 'Bearer sk_test_x');
  const sent = (name: string) => request.body.get(name);
  assert.equal(sent('line_items[0][price_data][unit_amount]'), '1000');
  assert.equal(sent('line_items[0][price_data][currency]'), 'usd');
  assert.equal(sent('metadata[type]'), 'wallet_top_up');
  assert.equal(sent('metadata[walletAddress]'), owner.address);
  assert.equal(sent('metadata[amountCents]'), '1000');
  assert.equal(sent('success_url'), 'http://127.0.0.1:3000/dashboard/wallet?top_up=success');
  assert.equal(sent('cancel_url'), 'http://127.0.0.1:3000/dashboard/wallet?top_up=cancelled');
});

test('other amounts and addresses are refused before anybody is asked', async () => {
  for (const amount of ['0', '-500', '501', '1e3', '500.0', 'NaN', ' 500', ''])
    assert.deepEqual(await get(`/api/wallet/top-up?amount=${encodeURIComponent(amount)}&address=${owner.address}`), {
      status: 400,
      body: { error: 'Invalid amount. Choose: 500, 1000, 2500, 5000 (cents)' },
    });
  for (const address of [
    '',
    '&address=0x12',
    `&address=${owner.address}0`,
    '&address=11111111111111111111111111111111',
  ])
    assert.deepEqual(await get(`/api/wallet/top-up?amount=500${address}`), {
      status: 400,
      body: { error: 'Valid wallet address required' },
    });
  assert.deepEqual(asked, []);
});

test('a processor that refuses is a 500 with a fixed text', async () => {
  processorStatus = 400;
  assert.deepEqual(await get(`/api/wallet/top-up?address=${owner.address}`), {
    status: 500,
    body: { error: 'Checkout failed' },
  });
});

test('a paid checkout credits the address, once for one event', async () => {
  const wallet = fresh();
  const event = completed(await open(2500, wallet.address), 2500, {}, wallet.address);
  for (let n = 0; n < 2; n += 1) assert.deepEqual(await deliver(event), { status: 200, body: { received: true } });
  const { status, body } = await ledgerOf(wallet);
  assert.equal(status, 200);
  assert.deepEqual(
    [body.address, body.balance, body.available, body.entries.length],
    [wallet.address, '25.00', '25.00', 1],
  );
  assert.deepEqual(
    [body.entries[0].kind, body.entries[0].amount, body.entries[0].balance],
    ['top-up', '25.00', '25.00'],
  );
});

test('either address takes a top-up, under either name of the header and any of the secrets, signed by the processor itself', async () => {
  const { default: Stripe } = await import('stripe');
  const wallet = fresh();
  const ways = ['/api/wallet/top-up', '/api/billing/webhook'].flatMap((url) =>
    ['stripe-signature', 'billing-signature'].flatMap((name) =>
      [SECRET, SECOND].map((secret) => ({ url, name, secret })),
    ),
  );
  for (const { url, name, secret } of ways) {
    const payload = completed(await open(500, wallet.address), 500, {}, wallet.address);
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
    const headers = { 'content-type': 'application/json; charset=utf-8', [name]: signature };
    for (let n = 0; n < 2; n += 1)
      assert.equal((await web.server.app.inject({ method: 'POST', url, payload, headers })).statusCode, 200);
  }
  assert.equal(await balance(wallet), `${ways.length * 5}.00`);
});

test('one event at both addresses at once credits once', async () => {
  const wallet = fresh();
  const payload = completed(await open(500, wallet.address), 500, {}, wallet.address);
  const headers = { 'content-type': 'application/json', 'stripe-signature': signed(payload) };
  const answers = await Promise.all(
    ['/api/wallet/top-up', '/api/billing/webhook', '/api/wallet/top-up', '/api/billing/webhook'].map((url) =>
      web.server.app.inject({ method: 'POST', url, payload, headers }),
    ),
  );
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [200, 200, 200, 200],
  );
  assert.equal(await balance(wallet), '5.00');
});

test('ten at once, and the same checkout under other event ids, credit once', async () => {
  const wallet = fresh();
  const id = await open(500, wallet.address);
  const event = completed(id, 500, {}, wallet.address);
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, () => deliver(event)),
    ...Array.from({ length: 5 }, () => deliver(completed(id, 500, {}, wallet.address))),
  ]);
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(await balance(wallet), '5.00');
});

test('a forged, old or future signature is refused', async () => {
  const wallet = fresh();
  const event = completed(await open(500, wallet.address), 500, {}, wallet.address);
  const now = Date.now();
  for (const signature of [
    '',
    't=1',
    'nonsense',
    signed(event, { secret: 'other' }),
    signed(`${event} `),
    signed(event, { at: now - 302_000 }),
    signed(event, { at: now + 302_000 }),
    `t=${Math.floor(now / 1000)},${signed(event, { at: now - 900_000 })}`,
  ])
    assert.deepEqual(await deliver(event, signature), { status: 400, body: { error: 'Invalid signature' } }, signature);
  assert.equal(await balance(wallet), '0.00');
  assert.equal((await deliver(event, signed(event, { at: now - 295_000 }))).status, 200);
  assert.equal(await balance(wallet), '5.00');
});

test('what differs from the stored checkout is not credited', async () => {
  const wallet = fresh();
  const id = await open(500, wallet.address);
  for (const given of [
    { payment_status: 'unpaid' },
    { payment_status: 'no_payment_required' },
    { amount_total: 5000 },
    { currency: 'jpy' },
    { id: 'cs_unknown' },
    { metadata: { type: 'wallet_top_up', walletAddress: owner.address, amountCents: '500' } },
    { metadata: { type: 'wallet_top_up', walletAddress: wallet.address, amountCents: '5000' } },
    { metadata: { type: 'other' } },
  ])
    assert.equal((await deliver(completed(id, 500, given, wallet.address))).status, 200);
  assert.equal((await deliver(JSON.stringify({ id: 'evt_x', type: 'invoice.paid', data: {} }))).status, 200);
  assert.equal(await balance(wallet), '0.00');
  assert.equal((await deliver(completed(id, 500, {}, wallet.address))).status, 200);
  assert.equal(await balance(wallet), '5.00');
});

test('an event that cannot be read is a 500, so that it is sent again', async () => {
  const body = '{"id":"evt_bad","type":"checkout.session.completed"}';
  assert.deepEqual(await deliver(body), { status: 500, body: { error: 'Processing failed' } });
});

test('the ledger is shown to the owner, an administrator, or the key of the address', async () => {
  const person = await signedIn(web);
  const made = await web.server.app.inject({
    method: 'POST',
    url: '/api/wallet',
    payload: { action: 'create' },
    headers: person.headers,
  });
  const url = `/api/wallet/ledger?address=${made.json().address}`;
  assert.equal((await get(url, person.headers)).status, 200);
  const other = await signedIn(web);
  for (const headers of [{}, other.headers])
    assert.deepEqual(await get(url, headers), { status: 401, body: { error: 'Unauthorized' } });
  assert.equal((await get(url, (await signedIn(web, { isAdmin: true })).headers)).status, 200);
  assert.deepEqual(await get('/api/wallet/ledger'), { status: 400, body: { error: 'Missing address parameter' } });
  assert.deepEqual(await get('/api/wallet/ledger?address=0x1'), { status: 400, body: { error: 'Invalid address' } });
  const old = String(Date.now() - 301_000);
  const late = await owner.signMessage({ message: requestMessage('GET', '/api/wallet/ledger', old) });
  const headers = { 'x-wallet-timestamp': old, 'x-wallet-signature': late };
  assert.equal((await get(`/api/wallet/ledger?address=${owner.address}`, headers)).status, 401);
});

test('without a processor there is no top-up', async () => {
  const other = await testWeb();
  for (const method of ['GET', 'POST'] as const) {
    const answer = await other.server.app.inject({ method, url: `/api/wallet/top-up?address=${owner.address}` });
    assert.deepEqual([answer.statusCode, answer.json()], [500, { error: 'Payment processor not configured' }]);
  }
  await other.stop();
});

test('the books are right after all of this', async () => {
  const broken = (await verifyLedger(web.deps.db.system)).filter(({ broken: found }) => found.length > 0);
  assert.deepEqual(broken, []);
});
