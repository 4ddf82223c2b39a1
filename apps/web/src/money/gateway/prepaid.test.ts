import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { signVoucher } from '@troupe/chain';
import { randomHex } from '@troupe/kernel';
import { CARD_PROCESSOR, createLedger, REVENUE, verifyLedger, walletAccount } from '@troupe/ledger';
import { signedIn, testWeb, type Person, type TestWeb } from '../../testing.ts';

const SESSIONS = '/api/wallet/sessions';
const fresh = () => privateKeyToAccount(generatePrivateKey());
const newNonce = () => `0x${randomHex(32)}` as const;

let web: TestWeb;
let asked = 0;
let pluginStatus = 200;
let duringCall: () => Promise<unknown> = async () => {};

const plugin = createServer((request, response) => {
  void (async () => {
    request.resume();
    asked += 1;
    await duringCall();
    response.writeHead(pluginStatus, { 'content-type': 'application/json' }).end('{"said":"hello"}');
  })();
});

before(async () => {
  await new Promise<void>((resolve) => plugin.listen(0, '127.0.0.1', resolve));
  web = await testWeb({
    env: { PLUGIN_AGENT_URL: `http://127.0.0.1:${(plugin.address() as AddressInfo).port}/` },
  });
});
after(async () => {
  const broken = (await verifyLedger(web.deps.db.system)).filter(({ broken: found }) => found.length > 0);
  assert.deepEqual(broken, []);
  await web.stop();
  plugin.close().closeAllConnections();
});
beforeEach(() => {
  asked = 0;
  pluginStatus = 200;
  duringCall = async () => {};
});

async function call(headers: Record<string, string>) {
  const answer = await web.server.app.inject({ method: 'POST', url: '/api/v1/gateway', payload: {}, headers });
  return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
}
const ask = async (method: 'POST' | 'DELETE' | 'GET', url: string, payload?: object, headers = {}) =>
  (await web.server.app.inject({ method, url, payload, headers })).json();
const ledger = createLedger({ clock: () => new Date() });
const balance = (account: string) => ledger.balance(web.deps.db.system, account);
const credit = (address: string, units: bigint) =>
  web.deps.db.asSystem(async (tx) => {
    await ledger.open(tx, [CARD_PROCESSOR, walletAccount(address)]);
    await ledger.post(tx, {
      key: randomHex(8),
      kind: 'top-up',
      entries: [
        { account: CARD_PROCESSOR.id, amount: -units },
        { account: walletAccount(address).id, amount: units },
      ],
    });
  });

/** A person with a wallet that the platform keeps. */
async function withWallet(units = 0n): Promise<{ person: Person; address: string }> {
  const person = await signedIn(web);
  const { address } = await ask('POST', '/api/wallet', { action: 'create' }, person.headers);
  if (units > 0n) await credit(address, units);
  return { person, address };
}
async function voucher(by: PrivateKeyAccount, sessionId: string, { amount = '0.05', plugin: id = 'agent' } = {}) {
  const nonce = newNonce();
  const units = BigInt(Math.round(Number(amount) * 1e6));
  const signature = await signVoucher(by, { sessionId, plugin: id, amount: units, nonce }, 4217);
  return Buffer.from(JSON.stringify({ amount, nonce, signature })).toString('base64url');
}
const card = (person: Person) => ({ ...person.headers, 'x-payment-method': 'card' });
const opened = async (address: string, deposit = '1.00'): Promise<string> =>
  (await ask('POST', SESSIONS, { address, deposit })).session.id;

test('a card balance pays, and the income is booked', async () => {
  const { person, address } = await withWallet(120_000n);
  const before = (await balance(REVENUE.id)).balance;
  const { status, body, headers } = await call(card(person));
  assert.equal(status, 200);
  assert.deepEqual([body.plugin, body.result, body.payment.method], ['agent', { said: 'hello' }, 'card']);
  assert.equal(headers['payment-receipt'], body.payment.receipt);
  assert.deepEqual(await balance(walletAccount(address).id), { balance: 70_000n, held: 0n, available: 70_000n });
  assert.equal((await balance(REVENUE.id)).balance - before, 50_000n);
});

test('several wallets pay together, the first one first', async () => {
  const { person, address } = await withWallet(30_000n);
  const second = await ask('POST', '/api/wallet/cdp', {}, person.headers);
  await credit(second.address, 100_000n);
  assert.equal((await call(card(person))).status, 200);
  assert.equal((await balance(walletAccount(address).id)).balance, 0n);
  assert.equal((await balance(walletAccount(second.address).id)).balance, 80_000n);
});

test('who has too little, or nothing, or is nobody, is not served', async () => {
  const { person } = await withWallet(49_999n);
  const poor = { plugin: 'agent', amount: '0.05', currency: 'USD', error: 'insufficient_balance' };
  for (const one of [person, await signedIn(web)]) {
    const { status, body } = await call(card(one));
    assert.deepEqual([status, body], [402, poor]);
  }
  const nobody = await call({ 'x-payment-method': 'card' });
  assert.deepEqual([nobody.status, nobody.body.error], [402, 'payment_required']);
  assert.equal(asked, 0);
});

test('the plugin’s failure returns the money of a card and of a session', async () => {
  pluginStatus = 500;
  const { person, address } = await withWallet(50_000n);
  assert.deepEqual((await call(card(person))).body.error, 'plugin_failed');
  assert.deepEqual(await balance(walletAccount(address).id), { balance: 50_000n, held: 0n, available: 50_000n });
  const owner = fresh();
  const id = await opened(owner.address);
  const header = await voucher(owner, id);
  assert.equal((await call({ 'x-session-id': id, 'x-payment-voucher': header })).status, 502);
  assert.deepEqual(await ask('DELETE', `${SESSIONS}?sessionId=${id}`), {
    success: true,
    returned: '1.00',
    settled: '0.00',
  });
});

test('twenty card calls at once against money for three are exactly three', async () => {
  const { person } = await withWallet(170_000n);
  const answers = await Promise.all(Array.from({ length: 20 }, () => call(card(person))));
  assert.equal(answers.filter(({ status }) => status === 200).length, 3);
  assert.equal(asked, 3);
});

test('a voucher pays from a session, once', async () => {
  const owner = fresh();
  const id = await opened(owner.address);
  const header = await voucher(owner, id);
  const paying = { 'x-session-id': id, 'x-payment-voucher': header };
  const answers = await Promise.all(Array.from({ length: 5 }, () => call(paying)));
  const paid = answers.filter(({ status }) => status === 200);
  assert.equal(paid.length, 1);
  assert.equal(paid[0]?.headers['x-session-remaining'], '0.95');
  assert.equal(paid[0].body.payment.method, 'session');
  const refused = answers.find(({ status }) => status === 402);
  assert.deepEqual([refused?.body.error, refused?.body.reason], ['voucher_required', 'Nonce already used']);
  assert.equal(asked, 1);
  assert.deepEqual(await ask('DELETE', `${SESSIONS}?sessionId=${id}`), {
    success: true,
    returned: '0.95',
    settled: '0.05',
  });
});

test('a session id alone pays for nothing, except for the owner of a wallet that the platform keeps', async () => {
  const { person, address } = await withWallet();
  const id = await opened(address);
  assert.equal((await call({ 'x-session-id': id })).body.error, 'voucher_required');
  const stranger = await signedIn(web);
  assert.equal((await call({ 'x-session-id': id, ...stranger.headers })).body.error, 'voucher_required');
  assert.equal((await call({ 'x-session-id': id, ...person.headers })).status, 200);
});

test('bad vouchers and sessions are told what is wrong', async () => {
  const owner = fresh();
  const id = await opened(owner.address);
  const errorOf = async (headers: Record<string, string>) => (await call(headers)).body.error;
  const withVoucher = async (header: string) => errorOf({ 'x-session-id': id, 'x-payment-voucher': header });
  assert.equal(await errorOf({ 'x-payment-method': 'session' }), 'session_required');
  assert.equal(await errorOf({ 'x-session-id': 'ses_unknown' }), 'session_invalid');
  for (const header of [
    'nonsense',
    Buffer.from('null').toString('base64url'),
    Buffer.from('{"amount":"0.05"}').toString('base64url'),
    await voucher(owner, id, { amount: '0.04' }),
    await voucher(owner, id, { amount: '0.06' }),
    await voucher(owner, id, { plugin: 'tts' }),
    await voucher(fresh(), id),
    await voucher(owner, 'ses_other'),
  ])
    assert.equal(await withVoucher(header), 'voucher_required');
  const spend = async () => withVoucher(await voucher(owner, id));
  for (let n = 0; n < 20; n += 1) assert.equal(await spend(), undefined);
  assert.equal(await spend(), 'insufficient_balance');
  await ask('DELETE', `${SESSIONS}?sessionId=${id}`);
  assert.equal(await spend(), 'session_invalid');
});

test('a session that is closed while its plugin works keeps what that costs, and returns the rest', async () => {
  for (const status of [200, 500]) {
    const owner = fresh();
    await credit(owner.address, 1_000_000n);
    const id = await opened(owner.address);
    pluginStatus = status;
    duringCall = () => ask('DELETE', `${SESSIONS}?sessionId=${id}`);
    const header = await voucher(owner, id);
    assert.equal((await call({ 'x-session-id': id, 'x-payment-voucher': header })).status, status === 200 ? 200 : 502);
    const left = status === 200 ? 950_000n : 1_000_000n;
    assert.deepEqual(await balance(walletAccount(owner.address).id), { balance: left, held: 0n, available: left });
    assert.equal((await ask('GET', `${SESSIONS}?sessionId=${id}`)).session.status, 'closed');
  }
});
