import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { sha256Hex } from '@troupe/kernel';
import { startWeb, tokenIn, type Person, type TestWeb } from '@troupe/testing/services/web';

/** How callers prove who they are: cookie, key, administrators, cross-site rule, bots, row-level security. */

let web: TestWeb;
let person: Person;
before(async () => {
  web = await startWeb({ env: { ADMIN_EMAILS: 'Chief@Example.com' } });
  person = await web.signUp();
});
after(() => web.stop());

describe('the session cookie', () => {
  test('is Secure when the public address is https', async () => {
    const open = await startWeb({ env: { BASE_URL: 'https://troupe.example' } });
    const account = { email: 'a@example.com', password: 'long enough' };
    await open.visitor().ask('POST', '/api/register', account);
    const reply = await open.visitor().ask('POST', '/api/auth/login', account);
    assert.match(
      reply.headers.getSetCookie()[0] ?? '',
      /^svc-session=[0-9a-f]{64}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    await open.stop();
  });

  test('of a deleted user is worth nothing, and so is the key', async () => {
    const gone = await web.signUp();
    const { key } = (await gone.ask('POST', '/api/keys', { name: 'k' })).body;
    await web.deps.db.system.deleteFrom('users').where('id', '=', gone.id).execute();
    assert.equal((await gone.ask('GET', '/api/settings')).status, 401);
    assert.equal((await gone.ask('GET', '/api/auth/session')).body.user, null);
    const bearer = { authorization: `Bearer ${key}` };
    assert.equal((await web.visitor().ask('GET', '/api/settings', undefined, bearer)).status, 401);
    assert.equal((await web.visitor().ask('POST', '/api/keys/validate', { apiKey: key })).status, 401);
  });

  test('of one user does not open what belongs to another', async () => {
    const other = await web.signUp();
    await other.ask('POST', '/api/keys', { name: 'mine' });
    assert.deepEqual((await person.ask('GET', '/api/keys')).body.keys, []);
  });
});

describe('requests from another site', () => {
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'none', origin: 'https://evil.example' },
  ];
  const rename = (headers: Record<string, string>) => person.ask('PATCH', '/api/settings', { name: 'x' }, headers);

  test('are refused when they would change something with the cookie', async () => {
    for (const headers of foreign) {
      for (const reply of [await rename(headers), await person.ask('POST', '/api/auth/signout', undefined, headers)])
        assert.deepEqual([reply.status, reply.body], [403, { error: 'Invalid CSRF token' }]);
      assert.equal((await person.ask('GET', '/api/settings', undefined, headers)).status, 200);
    }
    const own: Record<string, string>[] = [{ 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }, {}];
    for (const headers of own) assert.equal((await rename(headers)).status, 200);
  });

  test('pass with the token of this session, and not with another’s', async () => {
    const { token, header } = (await person.ask('GET', '/api/auth/csrf')).body;
    assert.equal(header, 'x-csrf-token');
    const stranger = await web.signUp();
    const others = (await stranger.ask('GET', '/api/auth/csrf')).body.token;
    for (const headers of foreign) {
      assert.equal((await rename({ ...headers, [header]: token })).status, 200);
      assert.equal((await rename({ ...headers, [header]: others })).status, 403);
    }
    assert.equal((await web.visitor().ask('GET', '/api/auth/csrf')).status, 401);
  });
});

describe('administrators', () => {
  test('are named by ADMIN_EMAILS in any case', async () => {
    const chief = await web.signUp({ email: 'chief@EXAMPLE.com' });
    assert.equal((await chief.ask('GET', '/api/auth/session')).body.user.isAdmin, true);
    assert.equal((await chief.ask('GET', '/api/admin/users')).status, 200);
    assert.equal((await person.ask('GET', '/api/auth/session')).body.user.isAdmin, false);
  });

  test('by address only once it is verified', async () => {
    const strict = await startWeb({ env: { ADMIN_EMAILS: 'chief@example.com', EMAIL_VERIFICATION: 'on' } });
    const chief = await strict.signUp({ email: 'chief@example.com' });
    assert.equal((await chief.ask('GET', '/api/auth/session')).body.user.isAdmin, false);
    assert.equal((await chief.ask('GET', '/api/admin/users')).status, 403);
    const token = tokenIn(await strict.mailTo('chief@example.com', /Verify/));
    const verify = () => chief.ask('POST', '/api/auth/verify-email', { token });
    assert.deepEqual((await verify()).body, { success: true });
    assert.deepEqual((await verify()).body, { error: 'Invalid or expired verification link' });
    assert.equal((await chief.ask('GET', '/api/auth/session')).body.user.isAdmin, true);
    await strict.stop();
  });

  test('others are refused everywhere, with the code', async () => {
    for (const who of [person, web.visitor()])
      for (const [method, path, body] of [
        ['GET', '/api/admin/users', undefined],
        ['PATCH', `/api/admin/users/${person.id}`, { plan: 'network' }],
        ['GET', '/api/admin/invites', undefined],
      ] as const) {
        const reply = await who.ask(method, path, body);
        assert.deepEqual([reply.status, reply.body.code], [403, 'ADMIN_REQUIRED'], path);
      }
  });
});

describe('with a challenge', () => {
  let guarded: TestWeb;
  before(async () => {
    guarded = await startWeb({ env: { BOT_CHALLENGE_KEY: 'challenge-key' } });
  });
  after(() => guarded.stop());

  async function solve(): Promise<string> {
    const challenge = (await guarded.visitor().ask('GET', '/api/auth/challenge')).body;
    let number = 0;
    while (sha256Hex(challenge.salt + number) !== challenge.challenge) number += 1;
    return Buffer.from(JSON.stringify({ ...challenge, number })).toString('base64');
  }

  test('register and forgot-password need a solution, each its own', async () => {
    const ask = (path: string, altcha?: string) =>
      guarded.visitor().ask('POST', path, { email: `${Math.random()}@example.com`, password: 'long enough', altcha });
    const solved = await solve();
    assert.equal((await ask('/api/register', solved)).status, 200);
    for (const altcha of [undefined, '', 'nonsense', solved, 'e30=', Buffer.from('null').toString('base64')]) {
      const reply = await ask('/api/register', altcha);
      assert.deepEqual([reply.status, reply.body], [403, { error: 'Access denied' }], String(altcha));
    }
    assert.equal((await ask('/api/auth/forgot-password')).status, 403);
    assert.equal((await ask('/api/auth/forgot-password', await solve())).status, 200);
  });

  test('a solution of somebody else’s challenge does not count', async () => {
    const forged = JSON.parse(Buffer.from(await solve(), 'base64').toString());
    const altcha = Buffer.from(JSON.stringify({ ...forged, signature: '0'.repeat(64) })).toString('base64');
    const reply = await guarded.visitor().ask('POST', '/api/auth/forgot-password', { email: 'a@b.cc', altcha });
    assert.equal(reply.status, 403);
  });

  test('without a key no challenge is needed', async () => {
    const reply = await web.visitor().ask('GET', '/api/auth/challenge');
    assert.deepEqual([reply.status, reply.body], [404, { error: 'No challenge is needed' }]);
  });
});

test('row-level security: whatever two users do at once, neither sees the other’s rows', async () => {
  const [ada, bob] = await Promise.all([web.signUp(), web.signUp()]);
  const acts = {
    key: (who: Person) => who.ask('POST', '/api/keys', { name: who.id }),
    invite: (who: Person) => who.ask('POST', '/api/invite', { name: 'Guest' }),
    login: (who: Person) => web.visitor().ask('POST', '/api/auth/login', who),
    rename: (who: Person) => who.ask('PATCH', '/api/settings', { name: who.id }),
    keys: (who: Person) => who.ask('GET', '/api/keys'),
    sessions: (who: Person) => who.ask('GET', '/api/auth/sessions'),
    audit: (who: Person) => who.ask('GET', '/api/audit'),
  };
  const names = Object.keys(acts) as (keyof typeof acts)[];
  const step = fc.tuple(fc.constantFrom(ada, bob), fc.constantFrom(...names));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      const replies = await Promise.all(steps.map(([who, name]) => acts[name](who)));
      for (const [index, { status, body }] of replies.entries()) {
        const [who, name] = steps[index] ?? [];
        assert.ok(status < 300 || status === 429, `${name}: ${status}`);
        if (name === 'keys') for (const key of body.keys) assert.equal(key.name, who?.id);
        if (name === 'audit') for (const entry of body.entries) assert.equal(entry.userId, who?.id);
      }
    }),
    { numRuns: 12 },
  );
  // The same at the tables themselves, without any filter of ours.
  const { db } = web.deps;
  for (const { id } of [ada, bob]) {
    for (const table of ['sessions', 'api_keys', 'account_links', 'invites', 'audit_log'] as const) {
      const rows = await db.user(id).selectFrom(table).select('user_id').execute();
      assert.ok(
        rows.every((row) => row.user_id === id),
        table,
      );
    }
    assert.deepEqual(await db.user(id).selectFrom('users').select('id').execute(), [{ id }]);
    for (const table of ['password_resets', 'email_verifications', 'referrals'] as const)
      await assert.rejects(db.user(id).selectFrom(table).select('user_id').execute(), /permission denied/);
  }
  const stolen = db.user(ada.id).updateTable('api_keys').set({ user_id: bob.id });
  await assert.rejects(stolen.execute(), /row-level security/);
  const foreign = await db.user(ada.id).deleteFrom('sessions').where('user_id', '=', bob.id).executeTakeFirst();
  assert.equal(foreign.numDeletedRows, 0n);
});

test('two registrations of one address at once: one 200, one 409', async () => {
  for (let round = 0; round < 3; round += 1) {
    const body = { email: `race${round}@example.com`, password: 'long enough' };
    const replies = await Promise.all([1, 2, 3].map(() => web.visitor().ask('POST', '/api/register', body)));
    assert.deepEqual(
      replies.map(({ status }) => status).sort((a, b) => a - b),
      [200, 409, 409],
    );
  }
});

test('whatever somebody types, the answer is no server error', async () => {
  const typist = await web.signUp();
  const text = fc.string({ unit: 'binary', maxLength: 300 });
  const value = fc.oneof(
    text,
    text.map((local) => `${local}@example.com`),
    fc.jsonValue(),
  );
  await fc.assert(
    fc.asyncProperty(value, text, async (email, other) => {
      const replies = [
        await typist.ask('POST', '/api/settings', { email, name: other }),
        await typist.ask('PATCH', '/api/settings', { notifications: { [other]: email } }),
        await typist.ask('POST', '/api/invite', { name: email }),
        await typist.ask('GET', `/api/keys/${encodeURIComponent(other)}`),
        await web.visitor().ask('POST', '/api/keys/validate', { apiKey: email }),
        await web.visitor().ask('POST', '/api/invites/verify', { token: email }),
        await web.visitor().ask('POST', '/api/auth/verify-email', { token: email }),
        await web.visitor().ask('POST', '/api/auth/login', { email, password: other }),
      ];
      for (const { status } of replies) assert.ok(status < 500, String(status));
    }),
    { numRuns: 40 },
  );
});
