import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { requestMessage, signVoucher } from '@troupe/chain';
import { testRuntime } from '@troupe/testing/database/runtime';
import { randomHex } from '@troupe/kernel';
import { CARD_PROCESSOR, createLedger, verifyLedger, walletAccount } from '@troupe/ledger';
import { createWeb } from '../../app.ts';
import { signedIn, testWeb, type TestWeb } from '../../testing.ts';

const PATH = '/api/wallet/sessions';
const CHAIN_ID = 4217;

const fresh = () => privateKeyToAccount(generatePrivateKey());
const nonce = () => `0x${randomHex(32)}` as const;

function client(web: TestWeb) {
  const ask = async (
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    payload?: object,
    headers: Record<string, string> = {},
  ) => {
    const answer = await web.server.app.inject({ method, url, payload, headers });
    return { status: answer.statusCode, body: answer.json() };
  };
  const ledger = createLedger({ clock: web.deps.clock });
  return {
    ask,
    open: (address: string, deposit: unknown = '10.00', headers?: Record<string, string>) =>
      ask('POST', PATH, { address, deposit }, headers),
    close: (id: string, headers?: Record<string, string>) =>
      ask('DELETE', `${PATH}?sessionId=${id}`, undefined, headers),
    get: async (id: string) => (await ask('GET', `${PATH}?sessionId=${id}`)).body.session,
    async spend(by: PrivateKeyAccount, sessionId: string, amount: string, given: Record<string, unknown> = {}) {
      const one = { sessionId, plugin: 'agent', nonce: nonce() };
      const units = BigInt(Math.round(Number(amount) * 1e6));
      const signature = await signVoucher(by, { ...one, amount: units }, CHAIN_ID);
      return ask('POST', `${PATH}/voucher`, { ...one, userAddress: by.address, amount, signature, ...given });
    },
    credit: (address: string, units: bigint) =>
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
      }),
    balance: (account: string) => ledger.balance(web.deps.db.system, account),
    async intact() {
      const broken = (await verifyLedger(web.deps.db.system)).filter(({ broken: found }) => found.length > 0);
      assert.deepEqual(broken, []);
    },
  };
}

async function signedHeaders(by: PrivateKeyAccount, method: string, at = Date.now()) {
  const timestamp = String(at);
  const signature = await by.signMessage({ message: requestMessage(method, PATH, timestamp) });
  return { 'x-wallet-signature': signature, 'x-wallet-timestamp': timestamp };
}

describe('sessions with play money', () => {
  let web: TestWeb;
  let its: ReturnType<typeof client>;
  before(async () => {
    web = await testWeb();
    its = client(web);
  });
  after(async () => {
    await its.intact();
    await web.stop();
  });

  test('a session is opened, spent from, and closed to the cent', async () => {
    const owner = fresh();
    const { status, body } = await its.open(owner.address);
    assert.equal(status, 201);
    const { id, createdAt } = body.session;
    assert.match(id, /^ses_[0-9a-f]{24}$/);
    assert.deepEqual(body, {
      session: {
        id,
        userAddress: owner.address,
        deposit: '10.00',
        spent: '0.00',
        remaining: '10.00',
        vouchers: [],
        status: 'active',
        createdAt,
        lastSettledAt: createdAt,
        sandbox: true,
      },
    });
    const spent = await its.spend(owner, id, '1.25');
    assert.equal(spent.status, 200);
    assert.deepEqual(spent.body.session, { id, spent: '1.25', remaining: '8.75', pendingVouchers: 1 });
    assert.deepEqual(
      [spent.body.success, spent.body.voucher.amount, spent.body.voucher.plugin],
      [true, '1.25', 'agent'],
    );
    const [voucher] = (await its.get(id)).vouchers;
    assert.deepEqual([voucher.plugin, voucher.amount, typeof voucher.timestamp], ['agent', '1.25', 'number']);
    const closed = { status: 200, body: { success: true, returned: '8.75', settled: '1.25' } };
    assert.deepEqual(await its.close(id), closed);
    assert.deepEqual(await its.close(id), closed);
    assert.equal((await its.get(id)).status, 'closed');
    assert.deepEqual((await its.spend(owner, id, '1.00')).body, { error: 'Session is closed' });
  });

  test('an address has one active session, also when twenty are asked for at once', async () => {
    const { address } = fresh();
    const answers = await Promise.all(Array.from({ length: 20 }, () => its.open(address, '5')));
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(new Set(answers.map(({ body }) => body.session.id)).size, 1);
    const again = answers.find(({ status }) => status === 200);
    assert.equal(again?.body.note, 'Active session already exists');
    await its.close(again?.body.session.id);
    assert.equal((await its.open(address.toLowerCase())).status, 201);
    const { body } = await its.ask('GET', `${PATH}?address=${address}`);
    assert.deepEqual(
      body.sessions.map(({ status }: { status: string }) => status),
      ['active', 'closed'],
    );
  });

  test('deposits and fields that are no good are refused', async () => {
    const { address } = fresh();
    const cases: [unknown, string][] = [
      [undefined, 'Missing address or deposit'],
      ['', 'Missing address or deposit'],
      [null, 'Missing address or deposit'],
      ['0.99', 'Minimum deposit is $1.00'],
      ['0', 'Minimum deposit is $1.00'],
      ['-5', 'Minimum deposit is $1.00'],
      [1e-7, 'Minimum deposit is $1.00'],
      ['100.01', 'Maximum deposit is $100.00'],
      [1e21, 'Maximum deposit is $100.00'],
      ['NaN', 'Invalid deposit'],
      ['Infinity', 'Invalid deposit'],
      ['1e1', 'Invalid deposit'],
      ['1,5', 'Invalid deposit'],
      [' 5', 'Invalid deposit'],
      ['5.0000001', 'Invalid deposit'],
      [{}, 'Invalid deposit'],
    ];
    for (const [deposit, error] of cases)
      assert.deepEqual(
        await its.ask('POST', PATH, { address, deposit }),
        { status: 400, body: { error } },
        String(deposit),
      );
    assert.deepEqual((await its.open('')).body, { error: 'Missing address or deposit' });
    assert.deepEqual((await its.open('0x12')).body, { error: 'Invalid address' });
    assert.deepEqual((await its.ask('GET', PATH)).body, { error: 'Missing address parameter' });
    assert.deepEqual((await its.ask('GET', `${PATH}?address=0x1`)).body, { error: 'Invalid address' });
    assert.deepEqual(await its.ask('GET', `${PATH}?sessionId=ses_x`), {
      status: 404,
      body: { error: 'Session not found' },
    });
    assert.deepEqual(await its.ask('DELETE', PATH), { status: 400, body: { error: 'Missing sessionId' } });
    assert.deepEqual(await its.close('ses_x'), { status: 404, body: { error: 'Session not found' } });
  });

  test('a voucher counts only for its own session, address, plugin, amount and nonce', async () => {
    const [owner, other] = [fresh(), fresh()];
    const { id } = (await its.open(owner.address)).body.session;
    const { id: others } = (await its.open(other.address)).body.session;
    const refused = async (status: number, error: string, answer: ReturnType<typeof its.spend>) =>
      assert.deepEqual(await answer, { status, body: { error } });
    await refused(400, 'Address mismatch', its.spend(other, id, '1'));
    await refused(401, 'Invalid signature', its.spend(owner, id, '1', { amount: '2' }));
    await refused(401, 'Invalid signature', its.spend(owner, id, '1', { plugin: 'tts' }));
    await refused(401, 'Invalid signature', its.spend(owner, id, '1', { nonce: nonce() }));
    await refused(
      401,
      'Invalid signature',
      its.spend(owner, id, '1', { sessionId: others, userAddress: other.address }),
    );
    await refused(401, 'Invalid signature', its.spend(owner, id, '1', { signature: '0x12' }));
    await refused(404, 'Session not found', its.spend(owner, 'ses_unknown', '1'));
    await refused(400, 'Insufficient balance', its.spend(owner, id, '10.01'));
    await refused(400, 'Insufficient balance', its.spend(owner, id, '9007199254'));
    for (const amount of ['0', '-1', 'NaN', '1e21', '1,5', ' 1', '0.0000001'])
      await refused(400, 'Invalid amount', its.spend(owner, id, '1', { amount }));
    for (const [field, error] of [
      ['sessionId', 'Missing sessionId'],
      ['userAddress', 'Missing userAddress'],
      ['plugin', 'Missing plugin'],
      ['nonce', 'Missing nonce'],
      ['signature', 'Missing signature'],
    ] as const)
      await refused(400, error, its.spend(owner, id, '1', { [field]: undefined }));
    await refused(400, 'Invalid nonce', its.spend(owner, id, '1', { nonce: '0x12' }));
    assert.equal((await its.get(id)).spent, '0.00');
    // The price of the plugin, when no amount is given.
    assert.equal((await its.spend(owner, id, '0.05', { amount: undefined })).body.voucher.amount, '0.05');
    await refused(400, 'Missing amount', its.spend(owner, id, '1', { amount: undefined, plugin: 'other' }));
  });

  test('a nonce counts once, also ten times at once', async () => {
    const owner = fresh();
    const { id } = (await its.open(owner.address)).body.session;
    const one = { sessionId: id, plugin: 'agent', nonce: nonce() };
    const signature = await signVoucher(owner, { ...one, amount: 1_000_000n }, CHAIN_ID);
    const body = { ...one, userAddress: owner.address, amount: '1', signature };
    const answers = await Promise.all(Array.from({ length: 10 }, () => its.ask('POST', `${PATH}/voucher`, body)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.equal(answers.filter(({ body: { error } }) => error === 'Nonce already used').length, 9);
    assert.equal((await its.get(id)).spent, '1.00');
  });

  for (const [deposit, amount] of [
    ['7.00', '1.00'],
    ['1.05', '0.15'],
  ] as const)
    test(`fifty vouchers of ${amount} at once against ${deposit} are exactly seven`, async () => {
      const owner = fresh();
      const { id } = (await its.open(owner.address, deposit)).body.session;
      const answers = await Promise.all(Array.from({ length: 50 }, () => its.spend(owner, id, amount)));
      assert.equal(answers.filter(({ status }) => status === 200).length, 7);
      assert.equal(answers.filter(({ body }) => body.error === 'Insufficient balance').length, 43);
      assert.deepEqual((await its.close(id)).body, { success: true, returned: '0.00', settled: deposit });
    });

  test('at five dollars pending the session settles, and goes on', async () => {
    const owner = fresh();
    const { id, createdAt } = (await its.open(owner.address)).body.session;
    assert.equal((await its.spend(owner, id, '4.99')).body.session.pendingVouchers, 1);
    assert.equal((await its.get(id)).lastSettledAt, createdAt);
    assert.equal((await its.spend(owner, id, '0.01')).body.session.pendingVouchers, 0);
    const session = await its.get(id);
    assert.ok(session.lastSettledAt > createdAt);
    assert.equal(session.status, 'active');
    assert.equal((await its.spend(owner, id, '5')).status, 200);
  });

  test('what the address does own is held, and play money is not used then', async () => {
    const owner = fresh();
    await its.credit(owner.address, 10_000_000n);
    const { session } = (await its.open(owner.address, '4')).body;
    assert.equal(session.sandbox, undefined);
    const account = walletAccount(owner.address).id;
    assert.deepEqual(await its.balance(account), { balance: 10_000_000n, held: 4_000_000n, available: 6_000_000n });
    await its.spend(owner, session.id, '1.5');
    await its.close(session.id);
    assert.deepEqual(await its.balance(account), { balance: 8_500_000n, held: 0n, available: 8_500_000n });
  });
});

describe('sessions in the open', () => {
  let web: TestWeb;
  let its: ReturnType<typeof client>;
  before(async () => {
    web = await testWeb({ env: { BASE_URL: 'https://troupe.example' } });
    its = client(web);
  });
  after(async () => {
    await its.intact();
    await web.stop();
  });
  const UNAUTHORIZED = { status: 401, body: { error: 'Unauthorized' } };

  test('the deposit must be there, and its owner must ask', async () => {
    const owner = fresh();
    assert.deepEqual(await its.open(owner.address), UNAUTHORIZED);
    assert.deepEqual(await its.open(owner.address, '10', await signedHeaders(fresh(), 'POST')), UNAUTHORIZED);
    assert.deepEqual(await its.open(owner.address, '10', await signedHeaders(owner, 'GET')), UNAUTHORIZED);
    const late = await signedHeaders(owner, 'POST', Date.now() - 301_000);
    assert.deepEqual(await its.open(owner.address, '10', late), UNAUTHORIZED);
    const headers = await signedHeaders(owner, 'POST');
    assert.deepEqual(await its.open(owner.address, '10', headers), {
      status: 402,
      body: { error: 'Insufficient balance' },
    });
    await its.credit(owner.address, 10_000_000n);
    const { status, body } = await its.open(owner.address, '10', headers);
    assert.deepEqual([status, body.session.sandbox], [201, undefined]);
    const { id } = body.session;
    for (const url of [`${PATH}?sessionId=${id}`, `${PATH}?address=${owner.address}`]) {
      assert.deepEqual(await its.ask('GET', url), UNAUTHORIZED);
      assert.equal((await its.ask('GET', url, undefined, await signedHeaders(owner, 'GET'))).status, 200);
    }
    assert.deepEqual(await its.close(id), UNAUTHORIZED);
    assert.equal((await its.spend(owner, id, '2')).status, 200);
    const closed = await its.close(id, await signedHeaders(owner, 'DELETE'));
    assert.deepEqual(closed.body, { success: true, returned: '8.00', settled: '2.00' });
    assert.equal((await its.balance('platform:revenue')).balance, 2_000_000n);
  });

  test('the signed-in owner of the wallet needs no signature, another user does', async () => {
    const person = await signedIn(web);
    const made = await its.ask('POST', '/api/wallet', { action: 'create' }, person.headers);
    await its.credit(made.body.address, 5_000_000n);
    const other = await signedIn(web);
    assert.deepEqual(await its.open(made.body.address, '5', other.headers), UNAUTHORIZED);
    const { id } = (await its.open(made.body.address, '5', person.headers)).body.session;
    assert.equal((await its.close(id, person.headers)).status, 200);
  });

  test('two sessions at once cannot hold the same money', async () => {
    const [a, b] = [fresh(), fresh()];
    await its.credit(a.address, 10_000_000n);
    const headers = await signedHeaders(a, 'POST');
    const opened = await Promise.all([
      its.open(a.address, '10', headers),
      its.open(a.address.toLowerCase(), '10', headers),
      its.open(b.address, '10', await signedHeaders(b, 'POST')),
    ]);
    assert.deepEqual(
      opened.map(({ status }) => status).toSorted((x, y) => x - y),
      [200, 201, 402],
    );
  });
});

test('play money is refused in the open', async () => {
  const runtime = await testRuntime({ BASE_URL: 'https://troupe.example', PAYMENT_SESSION_FUNDING: 'sandbox' });
  const web = createWeb({ ...runtime, url: 'http://127.0.0.1:3000', backendUrl: 'http://127.0.0.1:9', version: '0' });
  await assert.rejects(web, /PAYMENT_SESSION_FUNDING/);
  await runtime.close();
});
