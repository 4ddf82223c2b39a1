import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyLedger } from '@troupe/ledger';
import { signedIn, testWeb, type TestWeb } from '../../testing.ts';
import { client, PAYEE, SOLANA } from '../testing.ts';

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
const LIMIT = { success: false, error: 'Payment exceeds the limit of the agent' };
async function agentWith(policy: object) {
  const { person } = await its.funded(50_000_000n);
  const agentId = await its.agent(person);
  const url = `/api/agents/${agentId}/payment-policy`;
  const set = await its.ask('PUT', url, policy, person.headers);
  assert.equal(set.status, 200, JSON.stringify(set.body));
  return { person, agentId, url, pay: (given: object) => its.act(pay(agentId, given), person.headers) };
}

test('the owner reads and sets it; nobody else, and no API key', async () => {
  const { person, agentId, url } = await agentWith({ perDay: '10', payees: [PAYEE] });
  const policy = { perPayment: null, perDay: '10.00', perPayee: null, approvalAbove: null, payees: [PAYEE] };
  const spent = async () => (await its.ask('GET', url, undefined, person.headers)).body;
  assert.deepEqual(await spent(), { ...policy, spent: '0.00' });
  assert.equal((await its.act(pay(agentId), person.headers)).status, 200);
  assert.deepEqual(await spent(), { ...policy, spent: '5.00' });
  const other = await signedIn(web);
  for (const answer of [
    await its.ask('GET', url, undefined, other.headers),
    await its.ask('PUT', url, {}, other.headers),
    await its.ask('GET', '/api/agents/unknown/payment-policy', undefined, person.headers),
  ])
    assert.deepEqual(answer, { status: 404, body: { error: 'Agent not found' } });
  assert.equal((await its.ask('PUT', url, {})).status, 401);
  for (const perDay of ['-1', '1,5', 'NaN', 5, '1e3', '0.0000001', ' 1'])
    assert.equal((await its.ask('PUT', url, { perDay }, person.headers)).status, 400, String(perDay));
  const foreign = await its.act(pay(agentId), other.headers);
  assert.deepEqual([foreign.status, foreign.body.error], [404, 'Agent not found']);
});

test('limits hold for a payment, a day and a payee', async () => {
  const one = await agentWith({ perPayment: '4.99', perDay: '10', perPayee: '8' });
  assert.deepEqual(await one.pay({ amount: 5 }), { status: 403, body: LIMIT });
  assert.equal((await one.pay({ amount: 4 })).status, 200);
  assert.equal((await one.pay({ amount: 4 })).status, 200);
  assert.deepEqual(await one.pay({ amount: 0.01 }), { status: 403, body: LIMIT });
  assert.equal((await one.pay({ amount: 2, recipient: SOLANA })).status, 200);
  assert.deepEqual(await one.pay({ amount: 0.01, recipient: SOLANA }), { status: 403, body: LIMIT });
  const two = await agentWith({ payees: [SOLANA] });
  assert.deepEqual((await two.pay({})).body.error, 'Recipient not allowed for the agent');
  assert.equal((await two.pay({ recipient: SOLANA })).status, 200);
});

test('twenty at once fit under a limit for three exactly three times', async () => {
  const { pay: one } = await agentWith({ perDay: '3' });
  const answers = await Promise.all(Array.from({ length: 20 }, () => one({ amount: 1 })));
  assert.equal(answers.filter(({ status }) => status === 200).length, 3);
  assert.equal(answers.filter(({ status }) => status === 403).length, 17);
});

test('above an amount the owner is asked, and nothing moves before the answer', async () => {
  const { person, agentId, pay: one } = await agentWith({ approvalAbove: '2' });
  const paid = async () => (await its.act({ action: 'fitness', agentId }, person.headers)).body.details.execution;
  const { body } = await one({ amount: 3 });
  assert.deepEqual([body.success, body.status], [false, 'approval_required']);
  assert.equal(await paid(), 0);
  const url = `/api/agents/${agentId}/payments`;
  const decide = (id: string, decision: string) => its.ask('POST', `${url}/${id}`, { decision }, person.headers);
  const { payments } = (await its.ask('GET', url, undefined, person.headers)).body;
  assert.deepEqual([payments.length, payments[0].status, payments[0].amount], [1, 'approval', '3.00']);
  const notices = async () => {
    const { notices: all } = (await its.ask('GET', '/api/notices', undefined, person.headers)).body;
    return all.map(({ kind, message, link, readAt }: Record<string, string | null>) => [
      kind,
      message,
      link,
      readAt === null,
    ]);
  };
  const told = ['payment_waiting', 'A asks to pay 3.00 USD', `/dashboard/policy?agent=${agentId}`];
  assert.deepEqual(await notices(), [[...told, true]]);
  assert.equal((await decide(body.paymentId, 'perhaps')).status, 400);
  assert.equal((await decide('unknown', 'approve')).status, 404);
  const decisions = await Promise.all(Array.from({ length: 5 }, () => decide(body.paymentId, 'approve')));
  assert.equal(decisions.filter(({ status }) => status === 200).length, 1);
  assert.equal(await paid(), 1);
  assert.deepEqual(await notices(), [[...told, false]]);
  const second = await one({ amount: 3 });
  assert.equal((await decide(second.body.paymentId, 'deny')).body.status, 'denied');
  assert.equal((await decide(second.body.paymentId, 'approve')).status, 400);
  assert.equal(await paid(), 1);
});

test('whatever waits for the owner is in the inbox, of every agent, the oldest first and fifty at a time', async () => {
  const { person, agentId, pay: one } = await agentWith({ approvalAbove: '0' });
  const inbox = async () => (await its.ask('GET', '/api/inbox', undefined, person.headers)).body;
  assert.deepEqual((await inbox()).payments, []);
  const others = await Promise.all(Array.from({ length: 6 }, () => its.agent(person)));
  for (const id of [agentId, ...others]) {
    const url = `/api/agents/${id}/payment-policy`;
    assert.equal((await its.ask('PUT', url, { approvalAbove: '0' }, person.headers)).status, 200);
    assert.equal((await its.act(pay(id, { amount: 3 }), person.headers)).body.status, 'approval_required');
  }
  const { payments, hasMore } = await inbox();
  assert.deepEqual(
    payments.map((payment: { agentId: string }) => payment.agentId),
    [agentId, ...others],
  );
  assert.equal(hasMore, false);
  const { id, createdAt, amount, recipient, agentName } = payments[0];
  assert.ok(Date.parse(createdAt) <= Date.now());
  assert.deepEqual([agentName, amount, recipient], ['A', '3.00', PAYEE]);
  const url = `/api/agents/${agentId}/payments/${id}`;
  assert.equal((await its.ask('POST', url, { decision: 'deny' }, person.headers)).status, 200);
  assert.equal((await inbox()).payments.length, 6);
  const stranger = await signedIn(web);
  assert.deepEqual((await its.ask('GET', '/api/inbox', undefined, stranger.headers)).body.payments, []);
  for (let n = 0; n < 45; n += 1) await one({ amount: 1 });
  const full = await inbox();
  assert.deepEqual([full.payments.length, full.hasMore], [50, true]);
});
