import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { memoryCounters } from '@troupe/kernel';
import { sql } from 'kysely';
import { startWeb, type TestWeb } from '@troupe/testing/services/web';

/** Sign-up, sign-in, sessions: every row of 4.1 that needs no other party, and every error row. */

let web: TestWeb;
before(async () => {
  web = await startWeb();
});
after(() => web.stop());

type Case = [body: unknown, status: number, error: string];

async function refuses(path: string, cases: Case[]): Promise<void> {
  for (const [body, status, error] of cases) {
    const reply = await web.visitor().ask('POST', path, body);
    assert.deepEqual([reply.status, reply.body], [status, { error }], JSON.stringify(body)?.slice(0, 80));
  }
}

describe('POST /api/register', () => {
  const good = { email: 'ada@example.com', password: 'long enough' };

  test('answers 200 with id, email and name, and creates no session', async () => {
    const reply = await web.visitor().ask('POST', '/api/register', { ...good, email: '  Ada@Example.COM ' });
    assert.equal(reply.status, 200);
    assert.deepEqual(Object.keys(reply.body).sort(), ['email', 'id', 'name']);
    assert.deepEqual([reply.body.email, reply.body.name], ['ada@example.com', 'ada']);
    assert.deepEqual(reply.headers.getSetCookie(), []);
  });

  test('keeps a given name', async () => {
    const reply = await web
      .visitor()
      .ask('POST', '/api/register', { ...good, email: 'g@example.com', name: ' Grace ' });
    assert.equal(reply.body.name, 'Grace');
  });

  test('400: what is missing or wrong, in the order of the contract', () =>
    refuses('/api/register', [
      [{}, 400, 'Email and password required'],
      [{ email: 'x@y.zz' }, 400, 'Email and password required'],
      [{ password: 'long enough' }, 400, 'Email and password required'],
      [{ email: 'nonsense', password: '' }, 400, 'Email and password required'],
      [{ email: 5, password: 'long enough' }, 400, 'Email and password required'],
      [{ ...good, email: 'nonsense' }, 400, 'Invalid email format'],
      [{ email: 'nonsense', password: 'short' }, 400, 'Invalid email format'],
      [{ ...good, email: 'a\0b@example.com' }, 400, 'Null characters are not allowed'],
      [{ ...good, email: 'a@b@example.com' }, 400, 'Invalid email format'],
      [{ ...good, email: 'a@example.com, b@example.com' }, 400, 'Invalid email format'],
      [{ ...good, email: 'a@example.com\r\nBcc: b@example.com' }, 400, 'Invalid email format'],
      [{ ...good, email: `${'a'.repeat(250)}@example.com` }, 400, 'Invalid email format'],
      [{ ...good, email: `a@${'b.'.repeat(200_000)}com` }, 400, 'Invalid email format'],
      [{ ...good, email: `0x${'a'.repeat(40)}@wallet.svc` }, 400, 'Invalid email format'],
      [{ ...good, password: '1234567' }, 400, 'Password must be at least 8 characters'],
      [{ ...good, referralCode: 'not a code!' }, 400, 'Invalid referral code'],
      [{ ...good, referralCode: 'a'.repeat(21) }, 400, 'Invalid referral code'],
      [{ ...good, inviteToken: 'abc' }, 400, 'Invalid invite token format'],
      ['{', 400, 'Invalid JSON'],
    ]));

  test('403: a filled honeypot', () =>
    refuses('/api/register', [[{ ...good, email: 'bot@example.com', website: 'http://x' }, 403, 'Access denied']]));

  test('409: the same address in another spelling; dots are another address', async () => {
    const email = 'do.ts@example.com';
    assert.equal((await web.visitor().ask('POST', '/api/register', { ...good, email })).status, 200);
    await refuses('/api/register', [
      [{ ...good, email: ' DO.TS@example.com' }, 409, 'User already exists'],
      [{ ...good, email }, 409, 'User already exists'],
    ]);
    assert.equal(
      (await web.visitor().ask('POST', '/api/register', { ...good, email: 'dots@example.com' })).status,
      200,
    );
  });

  test('addresses of every script, and passwords of every character', async () => {
    const account = { email: 'jürgen@bücher.example', password: 'пароль \u007f 🔑' };
    assert.equal((await web.visitor().ask('POST', '/api/register', account)).status, 200);
    // The same letters, encoded another way.
    const decomposed = { ...account, email: account.email.normalize('NFD') };
    assert.equal((await web.visitor().ask('POST', '/api/register', decomposed)).status, 409);
    assert.equal((await web.visitor().ask('POST', '/api/auth/login', decomposed)).status, 200);
  });

  test('a referral code matches in any case and gives both sides ten credits; an unknown one is ignored', async () => {
    const giver = await web.signUp();
    const { referralCode } = (await giver.ask('GET', '/api/credits')).body;
    const newcomer = await web.signUp({ referralCode: referralCode.toLowerCase() });
    assert.equal((await newcomer.ask('GET', '/api/credits')).body.credits, 10);
    assert.deepEqual((await giver.ask('GET', '/api/credits')).body, {
      credits: 10,
      referralCode,
      referralCount: 1,
      plan: null,
    });
    const alone = await web.signUp({ referralCode: 'NOBODY-HAS-THIS' });
    assert.equal((await alone.ask('GET', '/api/credits')).body.credits, 0);
  });
});

describe('POST /api/auth/login', () => {
  test('answers ok and the user, and sets the cookie', async () => {
    const person = await web.signUp({ name: 'Ada' });
    const reply = await web.visitor().ask('POST', '/api/auth/login', {
      email: person.email.toUpperCase(),
      password: person.password,
    });
    assert.deepEqual([reply.status, reply.body], [200, { ok: true, user: { id: person.id, name: 'Ada' } }]);
    const [cookie = ''] = reply.headers.getSetCookie();
    assert.match(cookie, /^svc-session=[0-9a-f]{64}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test('400 and 401', async () => {
    const person = await web.signUp();
    await refuses('/api/auth/login', [
      [{}, 400, 'Missing email or password'],
      [{ email: 'a@b.cc' }, 400, 'Missing email or password'],
      [{ email: 'a@b.cc', password: '' }, 400, 'Missing email or password'],
      [{ email: 'nobody@example.com', password: 'whatever' }, 401, 'Invalid email or password'],
      [{ email: person.email, password: 'whatever' }, 401, 'Invalid email or password'],
      [{ email: 'a\0b@example.com', password: 'whatever' }, 400, 'Null characters are not allowed'],
      [{ email: 'x'.repeat(100_000), password: 'whatever' }, 401, 'Invalid email or password'],
    ]);
  });

  test('429 after five failures for that address, the right password included; others are not troubled', async () => {
    const person = await web.signUp();
    const other = await web.signUp();
    const login = (email: string, password: string) =>
      web.visitor().ask('POST', '/api/auth/login', { email, password });
    for (let tries = 0; tries < 5; tries += 1) assert.equal((await login(person.email, 'wrong')).status, 401);
    for (const password of ['wrong', person.password]) {
      const reply = await login(person.email, password);
      assert.deepEqual(
        [reply.status, reply.body],
        [429, { error: 'Too many login attempts. Try again in 15 minutes.' }],
      );
    }
    assert.equal((await login(other.email, other.password)).status, 200);
  });

  test('a session that somebody put into the browser is not the one that is signed in', async () => {
    const person = await web.signUp();
    const planted = 'f'.repeat(64);
    const reply = await web.visitor().ask('POST', '/api/auth/login', person, { cookie: `svc-session=${planted}` });
    assert.ok(!reply.headers.getSetCookie()[0]?.includes(planted));
  });
});

test('500 Login failed: the cause is not told', async () => {
  const broken = await startWeb();
  const person = await broken.signUp();
  await broken.deps.db.asSystem(async (tx) => {
    await sql`set local role none`.execute(tx);
    await sql`drop table sessions`.execute(tx);
  });
  const reply = await broken.visitor().ask('POST', '/api/auth/login', person);
  assert.deepEqual([reply.status, reply.body], [500, { error: 'Login failed' }]);
  await broken.stop();
});

describe('sessions', () => {
  test('GET /api/auth/session: the user, or null; always 200', async () => {
    const person = await web.signUp({ name: 'Ada' });
    assert.deepEqual((await person.ask('GET', '/api/auth/session')).body, {
      user: { id: person.id, name: 'Ada', email: person.email, isAdmin: false },
    });
    for (const cookie of ['', 'svc-session=', 'svc-session=zzz', `svc-session=${'0'.repeat(64)}`]) {
      const reply = await web.visitor().ask('GET', '/api/auth/session', undefined, cookie ? { cookie } : {});
      assert.deepEqual([reply.status, reply.body], [200, { user: null }]);
    }
  });

  test('POST /api/auth/signout: always 200, deletes the record, clears the cookie', async () => {
    const person = await web.signUp();
    const cookie = `svc-session=${person.token()}`;
    const reply = await person.ask('POST', '/api/auth/signout');
    assert.deepEqual([reply.status, reply.body], [200, { ok: true }]);
    assert.match(reply.headers.getSetCookie()[0] ?? '', /^svc-session=; Max-Age=0; Path=\/;/);
    assert.deepEqual((await web.visitor().ask('GET', '/api/auth/session', undefined, { cookie })).body, { user: null });
    assert.deepEqual((await web.visitor().ask('POST', '/api/auth/signout')).body, { ok: true });
  });

  test('the list names device and address; one can be ended, another user’s cannot', async () => {
    const person = await web.signUp();
    const phone = web.visitor();
    await phone.ask('POST', '/api/auth/login', person, {
      'user-agent': 'Mozilla/5.0 (Linux; Android 15) Chrome/130.0 Mobile',
    });
    const { sessions } = (await person.ask('GET', '/api/auth/sessions')).body;
    assert.equal(sessions.length, 2);
    const other = sessions.find(({ current }: { current: boolean }) => !current);
    assert.deepEqual([other.device, other.ip], ['Chrome on Android', '127.0.0.1']);
    assert.ok(Date.parse(other.lastSeen));
    const stranger = await web.signUp();
    const refused = await stranger.ask('DELETE', `/api/auth/sessions/${other.id}`);
    assert.deepEqual([refused.status, refused.body], [404, { error: 'Session not found' }]);
    assert.deepEqual((await person.ask('DELETE', `/api/auth/sessions/${other.id}`)).body, { success: true });
    assert.deepEqual((await phone.ask('GET', '/api/auth/session')).body, { user: null });
    assert.equal((await person.ask('DELETE', `/api/auth/sessions/${other.id}`)).status, 404);
    assert.equal((await web.visitor().ask('GET', '/api/auth/sessions')).status, 401);
  });
});

test('the retired credentials callback is gone, and says what to use', async () => {
  const reply = await web.visitor().ask('POST', '/api/auth/callback/credentials', {});
  assert.deepEqual([reply.status, reply.body.replacement], [410, '/api/auth/login']);
});

test('register, forgot and reset are limited to 60 a minute for one address', async () => {
  for (const path of ['/api/register', '/api/auth/forgot-password', '/api/auth/reset-password']) {
    let reply = await web.visitor().ask('POST', path, {});
    for (let asked = 0; asked < 61 && reply.status !== 429; asked += 1)
      reply = await web.visitor().ask('POST', path, {});
    assert.deepEqual([reply.status, reply.body], [429, { error: 'Too many requests' }]);
    assert.equal(reply.headers.get('ratelimit-limit'), '60');
  }
});

test('and to 1,000 an hour, however slowly they come', async () => {
  let now = Date.now();
  const clock = () => new Date(now);
  const slow = await startWeb({ clock, counters: memoryCounters(clock) });
  for (const path of ['/api/register', '/api/auth/forgot-password', '/api/auth/reset-password']) {
    const ask = () => slow.visitor().ask('POST', path, {});
    for (let asked = 0; asked < 1000; asked += 50) {
      const replies = await Promise.all(Array.from({ length: 50 }, ask));
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [400]);
      now += 60_000;
    }
    const reply = await ask();
    assert.deepEqual([reply.status, reply.body], [429, { error: 'Too many requests' }]);
    assert.equal(reply.headers.get('ratelimit-limit'), '1000');
    // Twenty minutes of the hour are over.
    assert.equal(reply.headers.get('retry-after'), String(40 * 60));
    now += 40 * 60_000;
    assert.equal((await ask()).status, 400);
  }
  await slow.stop();
});
