import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { randomHex } from '@troupe/kernel';
import { cardEnv, cardSignature, startCardProcessor } from '@troupe/testing/money/card-processor';
import { signedIn, testWeb, type Person, type TestWeb } from '../../testing.ts';

type Stand = Awaited<ReturnType<typeof startCardProcessor>>;

const DAY_MS = 86_400_000;
let processor: Stand;
let web: TestWeb;
before(async () => {
  processor = await startCardProcessor();
  web = await testWeb({ env: cardEnv(processor.address) });
});
after(async () => {
  await web.stop();
  processor.close();
});

const ask = (method: 'GET' | 'POST', url: string, person?: Person, payload?: object) =>
  web.server.app.inject({ method, url, headers: person?.headers ?? {}, ...(payload ? { payload } : {}) });

async function deliver(event: object, signature?: string) {
  const payload = JSON.stringify(event);
  return web.server.app.inject({
    method: 'POST',
    url: '/api/billing/webhook',
    headers: { 'content-type': 'application/json', 'billing-signature': signature ?? cardSignature(payload) },
    payload,
  });
}

const seconds = (date: number) => Math.floor(date / 1000);

function event(type: string, object: object, { id = `evt_${randomHex(8)}`, at = Date.now() } = {}) {
  return { id, object: 'event', type, created: seconds(at), data: { object } };
}

const PENCE = { solo: 2900, collective: 6900, label: 14900, network: 49900 };

function subscription(
  person: Person,
  plan: keyof typeof PENCE,
  { id = `sub_${person.id}`, status = 'active', customer = `cus_${person.id}`, ends = Date.now() + 30 * DAY_MS } = {},
) {
  const price = { currency: 'gbp', unit_amount: PENCE[plan], recurring: { interval: 'month' }, lookup_key: null };
  const items = { data: [{ price, current_period_end: seconds(ends) }] };
  return { id, object: 'subscription', status, customer, metadata: { userId: person.id }, items };
}

const billingOf = async (person: Person) => {
  const { plan, status, renewsAt } = (await ask('GET', '/api/billing', person)).json();
  return { plan, status, renews: renewsAt !== null };
};

const planChanges = async (person: Person) =>
  (
    await web.deps.db.system
      .selectFrom('audit_log')
      .select('detail')
      .where('user_id', '=', person.id)
      .where('action', '=', 'plan-change')
      .execute()
  ).length;

describe('billing', () => {
  test('GET /api/billing: plan, status, renewal and the four prices', async () => {
    const person = await signedIn(web);
    const { prices, ...rest } = (await ask('GET', '/api/billing', person)).json();
    assert.deepEqual(rest, { plan: null, status: 'inactive', renewsAt: null });
    assert.deepEqual(
      prices.map(({ plan, amount }: { plan: string; amount: number }) => [plan, amount]),
      [
        ['solo', 29],
        ['collective', 69],
        ['label', 149],
        ['network', 499],
      ],
    );
  });

  test('401 without a session', async () => {
    for (const [method, url] of [
      ['GET', '/api/billing'],
      ['POST', '/api/billing/checkout'],
      ['POST', '/api/billing/portal'],
    ] as const) {
      const answer = await ask(method, url);
      assert.deepEqual([answer.statusCode, answer.json()], [401, { error: 'Unauthorized' }]);
    }
  });

  test('checkout opens a subscription of the right price for the right user; the customer is made once', async () => {
    const person = await signedIn(web);
    processor.requests.length = 0;
    const answer = await ask('POST', '/api/billing/checkout', person, { plan: 'label' });
    assert.equal(answer.statusCode, 200);
    assert.match(answer.json().url, /^https:\/\/cards\.example\/pay\//);
    assert.match(answer.json().sessionId, /^cs_/);
    const [customer, checkout] = processor.requests;
    assert.equal(customer?.form['email'], person.email);
    assert.equal(customer?.headers.authorization, 'Bearer sk_test_card');
    assert.equal(checkout?.form['mode'], 'subscription');
    assert.equal(checkout?.form['client_reference_id'], person.id);
    assert.equal(checkout?.form['line_items[0][price_data][unit_amount]'], '14900');
    assert.equal(checkout?.form['line_items[0][price_data][currency]'], 'gbp');
    assert.equal(checkout?.form['subscription_data[metadata][plan]'], 'label');
    assert.equal(checkout?.form['success_url'], 'http://127.0.0.1:3000/dashboard/billing?checkout=success');
    await ask('POST', '/api/billing/checkout', person, { plan: 'solo' });
    assert.deepEqual(
      processor.requests.map(({ path }) => path),
      ['/v1/customers', '/v1/checkout/sessions', '/v1/checkout/sessions'],
    );
    assert.equal((await ask('POST', '/api/billing/portal', person)).statusCode, 200);
    assert.equal(processor.requests.at(-1)?.form['customer'], checkout?.form['customer']);
  });

  test('a plan that does not exist is 400, also free', async () => {
    const person = await signedIn(web);
    for (const body of [{}, { plan: 'free' }, { plan: 5 }]) {
      const answer = await ask('POST', '/api/billing/checkout', person, body);
      assert.deepEqual(
        [answer.statusCode, answer.json()],
        [400, { error: 'plan must be one of: solo, collective, label, network' }],
      );
    }
  });

  test('portal without a customer is 404', async () => {
    const answer = await ask('POST', '/api/billing/portal', await signedIn(web));
    assert.deepEqual([answer.statusCode, answer.json()], [404, { error: 'No subscription' }]);
  });

  test('a processor that fails is 502, one that is not configured 503', async () => {
    const person = await signedIn(web);
    processor.state.fail = 400;
    const failed = await ask('POST', '/api/billing/checkout', person, { plan: 'solo' });
    processor.state.fail = 0;
    assert.deepEqual([failed.statusCode, failed.json()], [502, { error: 'Payment processor unavailable' }]);

    const bare = await testWeb();
    try {
      const other = await signedIn(bare);
      for (const request of [
        { method: 'POST', url: '/api/billing/checkout', headers: other.headers, payload: { plan: 'solo' } },
        { method: 'POST', url: '/api/billing/webhook', payload: {} },
      ] as const) {
        const answer = await bare.server.app.inject(request);
        assert.deepEqual([answer.statusCode, answer.json()], [503, { error: 'Payment processor not configured' }]);
      }
    } finally {
      await bare.stop();
    }
  });
});

describe('the webhook', () => {
  test('only a fresh and right signature counts: past or future by more than 300 s is refused', async () => {
    const person = await signedIn(web);
    const news = event('customer.subscription.created', subscription(person, 'solo'));
    const payload = JSON.stringify(news);
    const now = Date.now();
    for (const signature of [
      '',
      'nonsense',
      't=x,v1=y',
      cardSignature(`${payload} `),
      cardSignature(payload, { secret: 'other' }),
      cardSignature(payload, { at: now - 310_000 }),
      cardSignature(payload, { at: now + 310_000 }),
    ]) {
      const answer = await deliver(news, signature);
      assert.deepEqual([answer.statusCode, answer.json()], [400, { error: 'Invalid signature' }], signature);
    }
    assert.deepEqual(await billingOf(person), { plan: null, status: 'inactive', renews: false });
    for (const at of [now - 280_000, now + 280_000])
      assert.equal((await deliver(news, cardSignature(payload, { at }))).statusCode, 200);
    assert.deepEqual(await billingOf(person), { plan: 'solo', status: 'active', renews: true });
  });

  test("the processor's own name of the header works, too", async () => {
    const person = await signedIn(web);
    const payload = JSON.stringify(event('customer.subscription.created', subscription(person, 'solo')));
    const headers = { 'stripe-signature': cardSignature(payload) };
    const answer = await web.server.app.inject({ method: 'POST', url: '/api/billing/webhook', headers, payload });
    assert.equal(answer.statusCode, 200);
    assert.equal((await billingOf(person)).status, 'active');
  });

  test('subscription created, updated, deleted', async () => {
    const person = await signedIn(web);
    const t = Date.now();
    const send = async (type: string, object: object, at: number) => {
      const answer = await deliver(event(`customer.subscription.${type}`, object, { at }));
      assert.deepEqual([answer.statusCode, answer.json()], [200, { received: true }]);
      return billingOf(person);
    };
    const sub = (plan: keyof typeof PENCE, status = 'active') => subscription(person, plan, { status });
    assert.deepEqual(await send('created', sub('solo', 'incomplete'), t), {
      plan: null,
      status: 'inactive',
      renews: false,
    });
    assert.equal((await send('updated', sub('solo'), t + 1000)).status, 'active');
    assert.equal((await send('updated', sub('network'), t + 2000)).plan, 'network');
    assert.deepEqual(await send('updated', sub('network', 'past_due'), t + 3000), {
      plan: 'network',
      status: 'past_due',
      renews: false,
    });
    assert.equal((await send('updated', sub('network'), t + 4000)).status, 'active');
    assert.equal((await send('deleted', sub('network', 'canceled'), t + 5000)).status, 'cancelled');
    assert.equal(await planChanges(person), 5);
  });

  test('checkout completed gives the plan; an unpaid one and a top-up do not', async () => {
    const person = await signedIn(web);
    const session = {
      mode: 'subscription',
      payment_status: 'paid',
      subscription: 'sub_checkout',
      customer: 'cus_checkout',
      client_reference_id: person.id,
      metadata: { plan: 'collective' },
    };
    for (const object of [
      { ...session, payment_status: 'unpaid' },
      { ...session, mode: 'payment', metadata: { type: 'wallet_top_up', plan: 'network' } },
    ])
      assert.equal((await deliver(event('checkout.session.completed', object))).statusCode, 200);
    assert.equal((await billingOf(person)).status, 'inactive');
    await deliver(event('checkout.session.completed', session));
    assert.deepEqual(await billingOf(person), { plan: 'collective', status: 'active', renews: false });
    assert.equal((await ask('POST', '/api/billing/portal', person)).statusCode, 200);
    const again = await ask('POST', '/api/billing/checkout', person, { plan: 'label' });
    assert.deepEqual(
      [again.statusCode, again.json()],
      [409, { error: 'You have a subscription. Change it in the billing portal.' }],
    );
  });

  test('one event delivered many times at once acts once', async () => {
    const person = await signedIn(web);
    const news = event('customer.subscription.created', subscription(person, 'label'));
    const answers = await Promise.all(Array.from({ length: 12 }, () => deliver(news)));
    assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]));
    assert.equal(await planChanges(person), 1);
    await web.accounts.users.changePlan(web.deps.db.system, person.id, { plan: 'solo' }, { reason: 'test' });
    await deliver(news);
    assert.equal((await billingOf(person)).plan, 'solo');
  });

  test('an event whose effect fails is not taken: the next delivery acts', async () => {
    const person = await signedIn(web);
    const broken = { ...web.accounts.users };
    const news = event('customer.subscription.created', subscription(person, 'label'));
    web.accounts.users.changePlan = () => Promise.reject(new Error('the disk is full'));
    try {
      assert.equal((await deliver(news)).statusCode, 500);
    } finally {
      web.accounts.users.changePlan = broken.changePlan;
    }
    assert.equal((await deliver(news)).statusCode, 200);
    assert.equal((await billingOf(person)).plan, 'label');
  });

  test('events out of order: the newest wins, an ended subscription stays ended', async () => {
    const person = await signedIn(web);
    const t = Date.now();
    await deliver(event('customer.subscription.updated', subscription(person, 'label'), { at: t }));
    await deliver(event('customer.subscription.updated', subscription(person, 'solo'), { at: t - 5000 }));
    await deliver(
      event('customer.subscription.created', subscription(person, 'label', { status: 'incomplete' }), { at: t }),
    );
    assert.deepEqual(await billingOf(person), { plan: 'label', status: 'active', renews: true });
    await deliver(event('customer.subscription.deleted', subscription(person, 'label'), { at: t + 1000 }));
    await deliver(event('customer.subscription.updated', subscription(person, 'label'), { at: t + 2000 }));
    assert.equal((await billingOf(person)).status, 'cancelled');
  });

  test('the end of an old subscription does not end a newer one', async () => {
    const person = await signedIn(web);
    await deliver(event('customer.subscription.created', subscription(person, 'solo', { id: 'sub_old' })));
    await deliver(event('customer.subscription.created', subscription(person, 'label', { id: 'sub_new' })));
    await deliver(event('customer.subscription.deleted', subscription(person, 'solo', { id: 'sub_old' })));
    assert.deepEqual(await billingOf(person), { plan: 'label', status: 'active', renews: true });
  });

  test('an event about nobody, of an unknown type or without a plan is acknowledged', async () => {
    const person = await signedIn(web);
    const nobody = { ...subscription(person, 'solo'), customer: 'cus_unknown', metadata: {} };
    const noPlan = { ...subscription(person, 'solo'), items: { data: [] } };
    for (const news of [
      event('customer.subscription.created', nobody),
      event('customer.subscription.created', noPlan),
      event('customer.subscription.created', { id: 'sub_bare' }),
      event('invoice.paid', {}),
    ])
      assert.equal((await deliver(news)).statusCode, 200);
    assert.equal((await billingOf(person)).status, 'inactive');
  });

  test('a user sees only the own subscriptions', async () => {
    const one = await signedIn(web);
    const two = await signedIn(web);
    await deliver(event('customer.subscription.created', subscription(one, 'label')));
    const { db } = web.deps;
    const tables = ['billing_subscriptions', 'billing_customers'] as const;
    for (const table of tables) {
      const own = await db.user(one.id).selectFrom(table).select('user_id').execute();
      assert.deepEqual(own, [{ user_id: one.id }]);
      assert.deepEqual(await db.user(two.id).selectFrom(table).select('user_id').execute(), []);
      await assert.rejects(db.user(one.id).deleteFrom(table).execute());
    }
  });
});
