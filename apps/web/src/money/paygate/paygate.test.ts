import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { owedAccount, verifyLedger, walletAccount } from '@troupe/ledger';
import { signedIn, testWeb, type TestWeb } from '../../testing.ts';
import { client, PAYEE, SOLANA, type Headers } from '../testing.ts';

describe('the built-in gateway', () => {
  let web: TestWeb;
  let its: ReturnType<typeof client>;
  before(async () => {
    web = await testWeb();
    its = client(web);
  });
  after(async () => {
    const broken = (await verifyLedger(web.deps.db.system)).filter(({ broken: found }) => found.length > 0);
    assert.deepEqual(broken, []);
    await web.stop();
  });
  const pay = (agentId: string, given: object = {}) => ({
    action: 'pay',
    agentId,
    amount: 5,
    recipient: PAYEE,
    ...given,
  });

  test('says that it is there, and what it sells', async () => {
    const { status, body } = await its.ask('GET', '/api/paygate');
    assert.deepEqual([status, body.gateway, body.status], [200, 'built-in', 'ok']);
    const { body: sold } = await its.act({ action: 'endpoints' });
    assert.deepEqual(sold.endpoints[0], { slug: 'agent', description: 'Ask an agent', price: '0.05' });
    assert.equal(sold.endpoints.length, 4);
  });

  test('checks come in the order of the contract', async () => {
    const { headers } = await signedIn(web);
    const refused = async (status: number, error: string, body: object, by: Headers = headers) =>
      assert.deepEqual(await its.act(body, by), { status, body: { success: false, error } }, JSON.stringify(body));
    await refused(401, 'Authentication required', { action: 'pay' }, {});
    await refused(401, 'Authentication required', {}, {});
    const bad = 'Invalid action. Use: join-colony, fitness, pricing, endpoints, or pay';
    for (const action of [undefined, 'steal', 5, 'constructor']) await refused(400, bad, { action });
    for (const action of ['join-colony', 'fitness', 'pricing', 'pay'])
      for (const agentId of [undefined, '', ' ', 5]) await refused(400, 'agentId required', { action, agentId });
    await refused(400, 'walletAddress required', { action: 'join-colony', agentId: 'a' });
    for (const amount of [undefined, 0, -1, '5', '1,5', null, 1e-7, 0.0000001])
      await refused(400, 'Invalid amount', pay('a', { amount, recipient: undefined }));
    for (const amount of [100.01, 1e21])
      await refused(
        400,
        'Amount exceeds $100 limit. Contact support for higher limits.',
        pay('a', { amount, recipient: 'x' }),
      );
    for (const recipient of [undefined, '', null, 7]) await refused(400, 'Recipient required', pay('a', { recipient }));
    for (const recipient of [
      `${PAYEE}0`,
      PAYEE.slice(0, -1),
      PAYEE.slice(2),
      '0x00000000000000000000000000000000000000EG',
      '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'.replace('B', 'b'),
      '0'.repeat(40),
      'l'.repeat(40),
      '1'.repeat(31),
      '1'.repeat(45),
    ])
      await refused(400, 'Invalid recipient address', pay('a', { recipient }));
  });

  test('fitness starts at 32 and grows with what is paid; pricing follows its tier', async () => {
    const { person } = await its.funded(20_000_000n);
    const agentId = await its.agent(person);
    const fitness = async () => (await its.act({ action: 'fitness', agentId }, person.headers)).body;
    assert.deepEqual(await fitness(), {
      score: 32,
      tier: 'low',
      details: { prediction: 32, execution: 0, coordination: 0 },
    });
    for (let n = 0; n < 8; n += 1)
      assert.equal((await its.act(pay(agentId, { amount: 0.5 }), person.headers)).status, 200);
    assert.deepEqual(await fitness(), {
      score: 40,
      tier: 'standard',
      details: { prediction: 32, execution: 8, coordination: 1 },
    });
    assert.deepEqual((await its.act({ action: 'pricing', agentId }, person.headers)).body, {
      agentId,
      tier: 'standard',
      pricing: { rate: '0.045', discount: 10 },
      fitness: { score: 40, tier: 'standard' },
    });
  });

  test('another user’s agent is nobody here: it is not paid for, priced or joined', async () => {
    const agentId = await its.agent(await signedIn(web));
    const { headers } = await signedIn(web);
    for (const body of [
      { action: 'fitness', agentId },
      { action: 'pricing', agentId },
      { action: 'join-colony', agentId, walletAddress: PAYEE },
      pay(agentId),
    ])
      assert.deepEqual(await its.act(body, headers), {
        status: 404,
        body: { success: false, error: 'Agent not found' },
      });
  });

  test('an agent joins', async () => {
    const person = await signedIn(web);
    const { status, body } = await its.act(
      { action: 'join-colony', agentId: 'a', walletAddress: PAYEE },
      person.headers,
    );
    assert.deepEqual([status, body.success, body.walletAddress], [200, true, PAYEE]);
  });

  test('a payment moves money in the ledger, and every attempt is in the audit log', async () => {
    const { person, address } = await its.funded(6_000_000n);
    const agentId = await its.agent(person);
    const before = await its.balance(owedAccount(PAYEE).id);
    const { status, body } = await its.act(pay(agentId, { endpoint: 'tts' }), person.headers);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      success: true,
      paymentId: body.paymentId,
      status: 'paid',
      amount: '5.00',
      currency: 'USDC',
      recipient: PAYEE,
      method: 'default',
      endpoint: 'tts',
      settlement: 'owed',
    });
    assert.equal(await its.balance(walletAccount(address).id), 1_000_000n);
    assert.equal((await its.balance(owedAccount(PAYEE).id)) - before, 5_000_000n);
    assert.deepEqual(await its.act(pay(agentId), person.headers), {
      status: 402,
      body: { success: false, error: 'Insufficient balance' },
    });
    await its.act(pay(agentId, { amount: 500 }), person.headers);
    const log = await its.audited(person);
    assert.deepEqual(
      log.map(({ action }) => action),
      ['paygate.pay', 'paygate.paid', 'paygate.pay', 'paygate.failed', 'paygate.refused'],
    );
    const { email, amount, currency, recipient, method } = log[0]!.detail;
    assert.deepEqual([email, amount, currency, recipient, method], [person.email, 5, 'USDC', PAYEE, 'default']);
    assert.equal(log[4]!.detail['amount'], 500);
  });

  test('wallets on the platform are credited, Solana addresses are owed', async () => {
    const { person } = await its.funded(6_000_000n);
    const { address: payee } = await its.funded(1_000_000n);
    const agentId = await its.agent(person);
    const paid = await its.act(pay(agentId, { amount: 1.5, recipient: payee }), person.headers);
    assert.equal(paid.body.settlement, 'credited');
    assert.equal(await its.balance(walletAccount(payee).id), 2_500_000n);
    assert.equal((await its.act(pay(agentId, { amount: 1, recipient: SOLANA }), person.headers)).status, 200);
    assert.equal(await its.balance(`owed:${SOLANA}`), 1_000_000n);
    const other = await its.act(pay(agentId, { currency: 'EUR' }), person.headers);
    assert.deepEqual([other.status, other.body.error], [400, 'Unsupported currency']);
  });
});
