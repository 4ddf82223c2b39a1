import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { cardEnv, cardSignature, startCardProcessor } from '@troupe/testing/money/card-processor';
import { allJobsRan } from '@troupe/testing/database/jobs';
import { startIssuer } from '@troupe/testing/identity/signed-tokens';
import { startWeb, type Person, type Reply, type TestWeb } from '@troupe/testing/services/web';

/** Events that others send: security events of the identity provider, and the card processor's webhook. */

type Issuer = Awaited<ReturnType<typeof startIssuer>>;

const CLIENT = 'client-id';
const RISC = 'https://schemas.openid.net/secevent/risc/event-type';
const TOKENS_REVOKED = 'https://schemas.openid.net/secevent/oauth/event-type/tokens-revoked';
const RECEIVER = '/api/security/risc';
const LEGACY = '/api/auth/idp2/risc';

let issuer: Issuer;
let key: Awaited<ReturnType<Issuer['newKey']>>;
let cards: Awaited<ReturnType<typeof startCardProcessor>>;
let web: TestWeb;
let made = 0;

before(async () => {
  issuer = await startIssuer();
  key = await issuer.newKey();
  cards = await startCardProcessor();
  web = await startWeb({
    env: { IDP2_ISSUER: issuer.address, IDP2_CLIENT_ID: CLIENT, ...cardEnv(cards.address) },
  });
});
after(async () => {
  await web.stop();
  issuer.close();
  cards.close();
});

function newId(): string {
  made += 1;
  return `event-${made}`;
}
const signed = (events: object, given: object = {}): Promise<string> =>
  issuer.sign(key, { iss: `${issuer.address}/`, aud: CLIENT, jti: newId(), events, ...given } as never);

const post = (path: string, body: string, type = 'application/secevent+jwt'): Promise<Reply> =>
  web.visitor().ask('POST', path, body, { 'content-type': type });

/** Until everything that was received has been acted on. */
const actedOn = () => allJobsRan(web.deps.jobs);

async function happens(event: string, data: object, path = RECEIVER): Promise<void> {
  const jti = newId();
  const reply = await post(path, await signed({ [event]: data }, { jti }));
  assert.equal(reply.status, path === RECEIVER ? 202 : 200);
  await actedOn();
}

const isSignedIn = async (person: Person) => (await person.ask('GET', '/api/auth/session')).body.user !== null;

describe('inbound security events', () => {
  test('GET: the health check names the supported events', async () => {
    const { status, body } = await web.visitor().ask('GET', RECEIVER);
    assert.equal(status, 200);
    assert.equal(body.status, 'ok');
    assert.deepEqual(
      body.events_supported.toSorted(),
      [
        ...['account-disabled', 'account-enabled', 'sessions-revoked', 'verification'].map((name) => `${RISC}/${name}`),
        `${RISC}/account-credential-change-required`,
        TOKENS_REVOKED,
      ].toSorted(),
    );
  });

  const ENDS_SESSIONS: [event: string, data: object][] = [
    [`${RISC}/account-disabled`, { reason: 'hijacking' }],
    [`${RISC}/account-disabled`, { reason: 'bulk-account' }],
    [`${RISC}/account-disabled`, {}],
    [`${RISC}/sessions-revoked`, {}],
    [TOKENS_REVOKED, {}],
  ];
  for (const [event, data] of ENDS_SESSIONS)
    test(`${event.split('/').at(-1)} ${JSON.stringify(data)} ends every session of the user, and of nobody else`, async () => {
      const person = await web.signUp();
      const stranger = await web.signUp();
      await happens(event, { ...data, subject: { email: person.email } });
      assert.deepEqual([await isSignedIn(person), await isSignedIn(stranger)], [false, true]);
    });

  const KEEPS_SESSIONS = [
    `${RISC}/account-enabled`,
    `${RISC}/account-credential-change-required`,
    `${RISC}/verification`,
    'https://example.com/unknown',
  ];
  for (const event of KEEPS_SESSIONS)
    test(`${event.split('/').at(-1)} ends nothing`, async () => {
      const person = await web.signUp();
      await happens(event, { subject: { email: person.email } });
      assert.equal(await isSignedIn(person), true);
    });

  test('account-credential-change-required tells the user by mail', async () => {
    const person = await web.signUp();
    await happens(`${RISC}/account-credential-change-required`, { subject: { email: person.email } });
    await web.mailTo(person.email, /Please check your account/);
  });

  test('a repeated event is acknowledged but not acted on', async () => {
    const person = await web.signUp();
    const jti = newId();
    const token = await signed({ [`${RISC}/sessions-revoked`]: { subject: { email: person.email } } }, { jti });
    assert.deepEqual([(await post(RECEIVER, token)).status, (await post(RECEIVER, token)).body], [202, '']);
    await actedOn();
    await person.ask('POST', '/api/auth/login', { email: person.email, password: person.password });
    assert.equal((await post(RECEIVER, token)).status, 202);
    assert.equal((await post(LEGACY, token)).status, 200);
    await actedOn();
    assert.equal(await isSignedIn(person), true);
  });

  test('the legacy endpoint verifies as well, answers {received:true} and does the same', async () => {
    const person = await web.signUp();
    const forged = await signed(
      { [`${RISC}/sessions-revoked`]: { subject: { email: person.email } } },
      { iss: 'https://evil.example/' },
    );
    const refused = await post(LEGACY, forged);
    assert.deepEqual([refused.status, refused.body], [400, { error: 'Invalid token' }]);
    assert.equal(await isSignedIn(person), true);
    const token = await signed({ [`${RISC}/sessions-revoked`]: { subject: { email: person.email } } });
    const reply = await post(LEGACY, token);
    assert.deepEqual([reply.status, reply.body], [200, { received: true }]);
    await actedOn();
    assert.equal(await isSignedIn(person), false);
  });

  test('what the receiver did is on the record of the user', async () => {
    const person = await web.signUp();
    await happens(`${RISC}/account-enabled`, { subject: { email: person.email } });
    const { body } = await person.ask('GET', '/api/audit');
    assert.ok(JSON.stringify(body).includes('security-event'));
  });

  for (const path of [RECEIVER, LEGACY])
    test(`${path}: every reason for a 400`, async () => {
      const stranger = await issuer.newKey({ publish: false });
      const base = { iss: `${issuer.address}/`, aud: CLIENT, jti: newId(), events: {} };
      const cases: [what: string, body: string, error: string][] = [
        ['nothing', '', 'Empty body'],
        ['nonsense', 'not a token', 'Invalid token'],
        ['the issuer without its slash', await signed({}, { iss: issuer.address }), 'Invalid token'],
        ['another audience', await signed({}, { aud: 'somebody' }), 'Invalid token'],
        ['a key that is not published', await issuer.sign(stranger, base), 'Invalid token'],
        ['a wrong signature', await issuer.sign(stranger, base, { kid: key.kid }), 'Invalid token'],
        ['no id', await signed({}, { jti: undefined }), 'Invalid token'],
        ['no events', await signed({}, { events: undefined }), 'Invalid token'],
      ];
      for (const [what, body, error] of cases) {
        const reply = await post(path, body);
        assert.deepEqual([reply.status, reply.body], [400, { error }], what);
      }
    });

  test('a body that is too large is 413', async () => {
    const reply = await post(RECEIVER, 'x'.repeat(1_048_577));
    assert.deepEqual([reply.status, reply.body], [413, { error: 'Request body too large' }]);
  });
});

describe("the card processor's webhook", () => {
  const deliver = (event: object, signature?: string) => {
    const payload = JSON.stringify(event);
    const headers = { 'billing-signature': signature ?? cardSignature(payload) };
    return web.visitor().ask('POST', '/api/billing/webhook', payload, headers);
  };
  const checkout = (person: Person, plan: string) => ({
    id: `evt_${newId()}`,
    type: 'checkout.session.completed',
    created: Math.floor(Date.now() / 1000),
    data: {
      object: {
        mode: 'subscription',
        payment_status: 'paid',
        subscription: `sub_${person.id}`,
        customer: `cus_${person.id}`,
        client_reference_id: person.id,
        metadata: { plan },
      },
    },
  });

  test('a signed checkout gives the plan and is on the record; the same event again changes nothing', async () => {
    const person = await web.signUp();
    const event = checkout(person, 'label');
    for (let times = 0; times < 2; times += 1) assert.deepEqual((await deliver(event)).body, { received: true });
    const { plan, status } = (await person.ask('GET', '/api/billing')).body;
    assert.deepEqual([plan, status], ['label', 'active']);
    const record = JSON.stringify((await person.ask('GET', '/api/audit')).body);
    assert.equal(record.split('plan-change').length - 1, 1);
  });

  test('an unsigned, wrongly signed, old or future delivery is 400 and changes nothing', async () => {
    const person = await web.signUp();
    const event = checkout(person, 'network');
    const payload = JSON.stringify(event);
    for (const signature of [
      '',
      't=1,v1=00',
      cardSignature(payload, { secret: 'another' }),
      cardSignature(payload, { at: Date.now() - 301_000 }),
      cardSignature(payload, { at: Date.now() + 310_000 }),
    ]) {
      const reply = await deliver(event, signature);
      assert.deepEqual([reply.status, reply.body], [400, { error: 'Invalid signature' }]);
    }
    assert.equal((await person.ask('GET', '/api/billing')).body.status, 'inactive');
  });
});
