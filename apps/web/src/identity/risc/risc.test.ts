import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Job, SECURITY_EVENTS } from '@troupe/contract';
import { createJobs } from '@troupe/db';
import { testRuntime } from '@troupe/testing/database/runtime';
import { randomHex, silentLog } from '@troupe/kernel';
import { SignJWT, UnsecuredJWT } from 'jose';
import { startIssuer } from '@troupe/testing/identity/signed-tokens';
import { createWeb } from '../../app.ts';
import { signedIn, testWeb, type Person, type TestWeb } from '../../testing.ts';

type Issuer = Awaited<ReturnType<typeof startIssuer>>;

const AUDIENCES = ['client-one', 'client-two'];
let issuer: Issuer;
let key: Awaited<ReturnType<Issuer['newKey']>>;
let web: TestWeb;
let now = Date.now();

before(async () => {
  issuer = await startIssuer();
  key = await issuer.newKey();
  web = await testWeb({
    clock: () => new Date(now),
    env: { IDP2_ISSUER: issuer.address, IDP2_CLIENT_ID: AUDIENCES.join(',') },
  });
});
after(async () => {
  await web.stop();
  issuer.close();
});

const { accountDisabled, accountEnabled, sessionsRevoked, tokensRevoked, credentialChange, verification } =
  SECURITY_EVENTS;

const claims = (events: object, given: object = {}) => ({
  iss: `${issuer.address}/`,
  aud: AUDIENCES[0],
  jti: randomHex(8),
  iat: Math.floor(now / 1000),
  events,
  ...given,
});
const tokenFor = (events: object, given: object = {}) => issuer.sign(key, claims(events, given) as never);

const post = (payload: string, { url = '/api/security/risc', from = web, type = 'application/secevent+jwt' } = {}) =>
  from.server.app.inject({ method: 'POST', url, payload, headers: { 'content-type': type } });

/** Waits until everything that was received has been acted on. */
async function settled(): Promise<void> {
  for (;;) {
    const waiting = await web.deps.db.system
      .selectFrom('risc_events')
      .select('jti')
      .where('processed_at', 'is', null)
      .execute();
    if (waiting.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function send(events: object, url?: string): Promise<void> {
  const answer = await post(await tokenFor(events), { url });
  assert.equal(answer.statusCode, url ? 200 : 202, answer.body);
  await settled();
}

const isSignedIn = async ({ headers }: Person) =>
  (await web.server.app.inject({ url: '/api/auth/session', headers })).json().user !== null;

const isDisabled = async ({ id }: Person) =>
  (
    await web.deps.db.system
      .selectFrom('users')
      .select('idp2_disabled_at')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).idp2_disabled_at !== null;

/** Somebody known to the provider as `sub`. */
async function linked(): Promise<Person & { sub: string; linkId: string }> {
  const person = await signedIn(web);
  const sub = `sub-${randomHex(6)}`;
  const link = await web.accounts.links.save(web.deps.db.system, {
    userId: person.id,
    provider: 'idp2',
    subject: sub,
    tokens: { access_token: 'secret' },
  });
  return { ...person, sub, linkId: link.id };
}

describe('what happens', () => {
  test('account-disabled by hijacking: sign-in at the provider is disabled and all sessions end', async () => {
    const person = await linked();
    const other = await linked();
    await send({ [accountDisabled]: { subject: { sub: person.sub }, reason: 'hijacking' } });
    assert.deepEqual([await isSignedIn(person), await isDisabled(person)], [false, true]);
    assert.deepEqual([await isSignedIn(other), await isDisabled(other)], [true, false]);
    await send({ [accountEnabled]: { subject: { sub: person.sub } } });
    assert.equal(await isDisabled(person), false);
  });

  test('account-disabled for another reason, or none: sessions end', async () => {
    for (const reason of ['bulk-account', undefined]) {
      const person = await linked();
      await send({ [accountDisabled]: { subject: { sub: person.sub }, reason } });
      assert.deepEqual([await isSignedIn(person), await isDisabled(person)], [false, false]);
    }
  });

  test('sessions-revoked ends all sessions', async () => {
    const person = await linked();
    await send({ [sessionsRevoked]: { subject: { sub: person.sub } } });
    assert.equal(await isSignedIn(person), false);
  });

  test('tokens-revoked deletes the stored tokens and ends all sessions', async () => {
    const person = await linked();
    await send({ [tokensRevoked]: { subject: { sub: person.sub } } });
    assert.equal(await isSignedIn(person), false);
    assert.equal(await web.accounts.links.tokens(web.deps.db.system, person.linkId), null);
  });

  test('account-credential-change-required tells the user by mail, and ends nothing', async () => {
    const person = await linked();
    await send({ [credentialChange]: { subject: { sub: person.sub } } });
    assert.equal(await isSignedIn(person), true);
    const { count } = await web.deps.db.system
      .selectFrom('audit_log')
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .where('user_id', '=', person.id)
      .where('action', '=', 'security-event')
      .executeTakeFirstOrThrow();
    assert.equal(count, 1n);
  });

  test('verification and unknown events are acknowledged; broken data hurts nobody', async () => {
    const person = await linked();
    await send({ [verification]: { state: 'x' } });
    await send({ 'https://example.com/unknown': { subject: { sub: person.sub } } });
    for (const data of [null, 'x', [], {}, { subject: null }, { subject: { sub: 5 } }, { subject: { sub: 'nobody' } }])
      await send({ [sessionsRevoked]: data });
    assert.equal(await isSignedIn(person), true);
  });

  test('people are matched by address when the subject is not known, and several events in one token all count', async () => {
    const one = await linked();
    const two = await signedIn(web);
    await send({
      [sessionsRevoked]: { subject: { sub: 'unknown', email: two.email.toUpperCase() } },
      [accountDisabled]: { subject: { sub: one.sub }, reason: 'hijacking' },
    });
    assert.deepEqual([await isSignedIn(one), await isSignedIn(two), await isDisabled(one)], [false, false, true]);
  });

  test('the legacy endpoint: 200 {received:true}, the same actions, matched by address alone', async () => {
    const person = await linked();
    const url = '/api/auth/idp2/risc';
    await send({ [sessionsRevoked]: { subject: { sub: person.sub } } }, url);
    assert.equal(await isSignedIn(person), true);
    const answer = await post(await tokenFor({ [sessionsRevoked]: { subject: { email: person.email } } }), { url });
    assert.deepEqual([answer.statusCode, answer.json()], [200, { received: true }]);
    await settled();
    assert.equal(await isSignedIn(person), false);
  });
});

describe('the receiver', () => {
  test('GET tells that it is up and what it understands', async () => {
    const answer = await web.server.app.inject('/api/security/risc');
    assert.equal(answer.statusCode, 200);
    const { status, endpoint, events_supported: events } = answer.json();
    assert.deepEqual([status, endpoint, events.length], ['ok', 'http://127.0.0.1:3000/api/security/risc', 6]);
  });

  test('202 with an empty body, whatever the content type', async () => {
    for (const type of ['application/secevent+jwt', 'application/json', 'text/plain']) {
      const answer = await post(await tokenFor({ [verification]: {} }), { type });
      assert.deepEqual([answer.statusCode, answer.body], [202, '']);
    }
  });

  test('any of the configured audiences is taken', async () => {
    for (const aud of [AUDIENCES[1], ['stranger', AUDIENCES[0]]])
      assert.equal((await post(await tokenFor({}, { aud }))).statusCode, 202);
  });

  for (const url of ['/api/security/risc', '/api/auth/idp2/risc'])
    test(`${url}: 400 for everything that does not verify, and nothing is stored`, async () => {
      const person = await linked();
      const event = { [sessionsRevoked]: { subject: { sub: person.sub, email: person.email } } };
      const unpublished = await issuer.newKey({ publish: false });
      const elliptic = await issuer.newKey({ alg: 'ES256' });
      const good = await tokenFor(event);
      const [head, , signature] = good.split('.');
      const tampered = `${head}.${Buffer.from(JSON.stringify(claims(event))).toString('base64url')}.${signature}`;
      const secret = new TextEncoder().encode(JSON.stringify(key.jwk));
      const bad: Record<string, string> = {
        nonsense: 'nonsense',
        'three parts of nonsense': 'a.b.c',
        json: '{"events":{}}',
        'issuer without a slash': await tokenFor(event, { iss: issuer.address }),
        'issuer with two slashes': await tokenFor(event, { iss: `${issuer.address}//` }),
        'another issuer': await tokenFor(event, { iss: 'https://evil.example/' }),
        'another audience': await tokenFor(event, { aud: 'stranger' }),
        'no audience': await tokenFor(event, { aud: undefined }),
        'no id': await tokenFor(event, { jti: undefined }),
        'an empty id': await tokenFor(event, { jti: '' }),
        'an endless id': await tokenFor(event, { jti: 'x'.repeat(300) }),
        'no events': await tokenFor(event, { events: undefined }),
        'events in a list': await tokenFor([]),
        expired: await tokenFor(event, { exp: Math.floor(now / 1000) - 60 }),
        'a key that the provider does not have': await issuer.sign(unpublished, claims(event) as never),
        "another key under a known one's name": await issuer.sign(unpublished, claims(event) as never, {
          kid: key.kid,
        }),
        'no key named': await issuer.sign(key, claims(event) as never, { kid: undefined }),
        'another algorithm': await issuer.sign(elliptic, claims(event) as never),
        'the public key as a shared secret': await new SignJWT(claims(event) as never)
          .setProtectedHeader({ alg: 'HS256', kid: key.kid })
          .sign(secret),
        unsigned: new UnsecuredJWT(claims(event) as never).encode(),
        tampered,
      };
      for (const [what, token] of Object.entries(bad)) {
        const answer = await post(token, { url });
        assert.deepEqual([answer.statusCode, answer.json()], [400, { error: 'Invalid token' }], what);
      }
      for (const body of ['', '  \n']) {
        const answer = await post(body, { url });
        assert.deepEqual([answer.statusCode, answer.json()], [400, { error: 'Empty body' }]);
      }
      await settled();
      assert.equal(await isSignedIn(person), true);
    });

  test('a repeated event is acknowledged and not acted on, also when it comes many times at once', async () => {
    const person = await linked();
    const token = await tokenFor({ [sessionsRevoked]: { subject: { sub: person.sub } } });
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(token)));
    assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([202]));
    await settled();
    const {
      cookie: { name, value },
    } = await web.deps.db.asSystem((tx) =>
      web.accounts.sessions.signIn(tx, person.id, 'password', { ip: '::1', userAgent: undefined }),
    );
    assert.equal((await post(token)).statusCode, 202);
    await settled();
    assert.equal(await isSignedIn({ ...person, headers: { cookie: `${name}=${value}` } }), true);
    const { count } = await web.deps.db.system
      .selectFrom('audit_log')
      .select((eb) => eb.fn.countAll<bigint>().as('count'))
      .where('user_id', '=', person.id)
      .where('action', '=', 'security-event')
      .executeTakeFirstOrThrow();
    assert.equal(count, 1n);
  });
});

describe('keys', () => {
  const fetches = () => issuer.requests.filter((path) => path === '/risc-keys').length;

  test('are kept for 24 hours, and asked for again when one is unknown', async () => {
    now += 25 * 3_600_000;
    await send({ [verification]: {} });
    const start = fetches();
    await send({ [verification]: {} });
    now += 23 * 3_600_000;
    await send({ [verification]: {} });
    assert.equal(fetches(), start);
    key = await issuer.newKey();
    await send({ [verification]: {} });
    assert.equal(fetches(), start + 1);
    now += 25 * 3_600_000;
    await send({ [verification]: {} });
    assert.equal(fetches(), start + 2);
  });

  test('made-up names of keys do not flood the provider', async () => {
    const stranger = await issuer.newKey({ publish: false });
    const before = fetches();
    for (let tries = 0; tries < 30; tries += 1)
      await post(await issuer.sign(stranger, claims({}) as never, { kid: `made-up-${tries}` }));
    assert.ok(fetches() - before <= 10, `${fetches() - before} requests`);
  });

  test('503 while they cannot be read, so that the sender tries again', async () => {
    now += 25 * 3_600_000;
    issuer.state.fail = true;
    const token = await tokenFor({ [verification]: {} });
    for (const url of ['/api/security/risc', '/api/auth/idp2/risc']) {
      const answer = await post(token, { url });
      assert.deepEqual([answer.statusCode, answer.json()], [503, { error: 'Signing keys unavailable' }]);
    }
    issuer.state.fail = false;
    assert.equal((await post(token)).statusCode, 202);
  });
});

describe('faults', () => {
  test('an event that was acknowledged is acted on by the next process when this one dies at once', async () => {
    const runtime = await testRuntime({ IDP2_ISSUER: issuer.address, IDP2_CLIENT_ID: AUDIENCES[0] });
    const deps = { ...runtime, url: 'http://127.0.0.1:3000', backendUrl: 'http://127.0.0.1:9', version: '0.0.0-test' };
    // It takes events and never gets to doing anything about them.
    const jobs = {
      ...runtime.jobs,
      work: (job: Job) => runtime.jobs.define(job),
    };
    const dying = await createWeb({ ...deps, jobs });
    await runtime.jobs.start();
    const person = await signedIn({ ...dying, deps, stop: dying.close });
    const token = await tokenFor({ [sessionsRevoked]: { subject: { email: person.email } } });
    assert.equal((await post(token, { from: { ...dying, deps, stop: dying.close } })).statusCode, 202);
    await runtime.jobs.stop();
    await dying.close();

    const nextJobs = createJobs({ url: runtime.databaseUrl, log: silentLog });
    const next = await createWeb({ ...deps, jobs: nextJobs });
    await nextJobs.start();
    const sessions = () =>
      deps.db.system.selectFrom('sessions').select('id').where('user_id', '=', person.id).execute();
    while ((await sessions()).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    await nextJobs.stop();
    await next.close();
    await runtime.close();
  });

  test('an action that fails is tried again, and comes before the events after it', async () => {
    const person = await linked();
    const { endAll } = web.accounts.sessions;
    let failures = 0;
    web.accounts.sessions.endAll = (...given) => {
      failures += 1;
      return failures === 1 ? Promise.reject(new Error('the disk is full')) : endAll(...given);
    };
    try {
      await post(await tokenFor({ [accountDisabled]: { subject: { sub: person.sub }, reason: 'hijacking' } }));
      await post(await tokenFor({ [accountEnabled]: { subject: { sub: person.sub } } }));
      await settled();
    } finally {
      web.accounts.sessions.endAll = endAll;
    }
    assert.ok(failures >= 2);
    assert.deepEqual([await isSignedIn(person), await isDisabled(person)], [false, false]);
  });
});
