import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { signedIn, testWeb, type Person, type TestWeb } from '../../testing.ts';
import { client, PAYEE, SOLANA } from '../testing.ts';

describe('an upstream gateway', () => {
  let web: TestWeb;
  let its: ReturnType<typeof client>;
  let person: Person;
  let asked: { method: string; url: string; body: unknown }[] = [];
  let answer: { status: number; body: string } = { status: 200, body: '{"ok":true}' };
  const quiet = new Map<unknown, 'before the head' | 'in the body'>();
  const upstream = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const part of request) text += String(part);
      const body = text === '' ? null : (JSON.parse(text) as { agentId: string });
      asked.push({ method: request.method ?? '', url: request.url ?? '', body });
      const silence = quiet.get(body?.agentId);
      if (silence === 'before the head') return;
      if (silence === 'in the body') return void response.writeHead(200).write('{');
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    })();
  });
  before(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    web = await testWeb({ env: { PAYGATE_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` } });
    its = client(web);
    person = await signedIn(web);
  });
  after(async () => {
    await web.stop();
    upstream.close().closeAllConnections();
  });
  beforeEach(() => {
    asked = [];
    answer = { status: 200, body: '{"ok":true}' };
  });
  const act = (body: object) => its.act(body, person.headers);

  test('is asked on its own paths', async () => {
    assert.deepEqual((await its.ask('GET', '/api/paygate')).body, { gateway: 'upstream', status: 'ok', ok: true });
    await act({ action: 'join-colony', agentId: 'a/b', walletAddress: PAYEE });
    await act({ action: 'fitness', agentId: 'a/b' });
    await act({ action: 'pricing', agentId: 'a' });
    await its.act({ action: 'endpoints' });
    const paid = await act({ action: 'pay', agentId: 'a', amount: 0.1, currency: 'EURC', recipient: SOLANA });
    assert.deepEqual([paid.status, paid.body.ok, paid.body.success], [200, true, true]);
    assert.deepEqual(
      asked.map(({ method, url }) => `${method} ${url}`),
      [
        'GET /health',
        'POST /gateway/colony/join',
        'GET /gateway/fitness/a%2Fb',
        'GET /gateway/pricing/a',
        'GET /gateway/endpoints',
        'POST /gateway/pay',
      ],
    );
    assert.deepEqual(asked[1]?.body, { agentId: 'a/b', walletAddress: PAYEE });
    assert.deepEqual(asked[5]?.body, {
      agentId: 'a',
      amount: 0.1,
      currency: 'EURC',
      recipient: SOLANA,
      method: 'default',
      paymentId: paid.body.paymentId,
    });
  });

  test('its refusals are told apart', async () => {
    const join = { action: 'join-colony', agentId: 'a', walletAddress: PAYEE };
    answer = { status: 402, body: '{"price":"1"}' };
    assert.deepEqual((await act(join)).body, {
      success: false,
      error: 'Payment required',
      upstream: { price: '1' },
    });
    for (const bad of [
      { status: 500, body: '{}' },
      { status: 302, body: '{}' },
      { status: 200, body: 'not json' },
    ]) {
      answer = bad;
      assert.deepEqual([(await act(join)).status, (await act(join)).body.error], [502, 'Payment gateway failed']);
    }
  });

  describe('that does not say what became of a payment', () => {
    const GONE = { success: false, error: 'Payment gateway unreachable', status: 'unknown' };
    /** An agent that may spend five dollars a day. */
    async function limited() {
      const agentId = await its.agent(person);
      await its.ask('PUT', `/api/agents/${agentId}/payment-policy`, { perDay: '5' }, person.headers);
      const url = `/api/agents/${agentId}/payments`;
      return {
        agentId,
        pay: () => act({ action: 'pay', agentId, amount: 5, recipient: PAYEE }),
        state: async () => (await its.ask('GET', url, undefined, person.headers)).body.payments[0].status as string,
        say: (id: string, decision: string, by = person) => its.ask('POST', `${url}/${id}`, { decision }, by.headers),
      };
    }

    test('silence ends after ten seconds; the payment counts until its owner says that it was not made', async () => {
      const suffer = async (silence: 'before the head' | 'in the body') => {
        const { agentId, pay, state, say } = await limited();
        quiet.set(agentId, silence);
        const began = Date.now();
        const { status, body } = await pay();
        const { paymentId } = body;
        assert.ok(Date.now() - began < 15_000);
        assert.deepEqual([status, body], [503, { ...GONE, paymentId }]);
        assert.equal(await state(), 'unknown');
        quiet.delete(agentId);
        assert.equal((await pay()).body.error, 'Payment exceeds the limit of the agent');
        const told = { success: true, paymentId, status: 'failed' };
        assert.deepEqual(await say(paymentId, 'failed'), { status: 200, body: told });
        assert.equal((await pay()).status, 200);
        const log = (await its.audited(person)).filter(({ detail }) => detail['agentId'] === agentId);
        assert.deepEqual(
          log.map(({ action }) => action),
          ['pay', 'unknown', 'refused', 'pay.failed', 'pay', 'paid'].map((word) => `paygate.${word}`),
        );
      };
      await Promise.all([suffer('before the head'), suffer('in the body')]);
    });

    test('nor an error or an answer that cannot be read; a refusal does', async () => {
      for (const [given, wanted] of [
        [{ status: 500, body: '{}' }, 'unknown'],
        [{ status: 303, body: '{}' }, 'unknown'],
        [{ status: 408, body: '{}' }, 'unknown'],
        [{ status: 200, body: 'paid!' }, 'unknown'],
        [{ status: 400, body: '{}' }, 'failed'],
        [{ status: 402, body: '{}' }, 'failed'],
      ] as const) {
        const { pay, state } = await limited();
        answer = given;
        const { status, body } = await pay();
        assert.equal(status, given.status === 402 ? 402 : 502);
        assert.deepEqual([await state(), body.status], [wanted, wanted === 'unknown' ? wanted : undefined]);
      }
    });

    test('the owner may say that it was made; nobody else, only once, and of no other payment', async () => {
      const { pay, state, say } = await limited();
      answer = { status: 500, body: '{}' };
      const { paymentId } = (await pay()).body;
      assert.equal((await say(paymentId, 'paid', await signedIn(web))).status, 404);
      assert.deepEqual((await say(paymentId, 'approve')).body, { error: 'Payment was decided before' });
      const said = await Promise.all(['paid', 'failed', 'paid', 'failed'].map((word) => say(paymentId, word)));
      assert.equal(said.filter(({ status }) => status === 200).length, 1);
      assert.equal(await state(), said.find(({ status }) => status === 200)?.body.status);
      assert.deepEqual(said.find(({ status }) => status !== 200)?.body, {
        error: 'The outcome of the payment is not unknown',
      });
      const bad = await say(paymentId, 'perhaps');
      assert.deepEqual(bad.body, { error: 'decision must be approve, deny, paid or failed' });
    });
  });

  test('an unreachable one is a 503, and a payment that it refused does not count', async () => {
    const other = await testWeb({ env: { PAYGATE_URL: 'http://127.0.0.1:9' } });
    const down = client(other);
    const health = await down.ask('GET', '/api/paygate');
    assert.deepEqual(health, {
      status: 503,
      body: { gateway: 'upstream', status: 'unreachable', error: 'Payment gateway unreachable' },
    });
    const payer = await signedIn(other);
    const agentId = await down.agent(payer);
    await down.ask('PUT', `/api/agents/${agentId}/payment-policy`, { perDay: '5' }, payer.headers);
    for (let n = 0; n < 2; n += 1) {
      const { status } = await down.act({ action: 'pay', agentId, amount: 5, recipient: PAYEE }, payer.headers);
      assert.equal(status, 503);
    }
    await other.stop();
  });
});
