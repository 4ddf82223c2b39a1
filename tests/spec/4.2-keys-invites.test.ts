import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createBackend } from '@troupe/backend';
import { sql } from 'kysely';
import { startWeb, tokenIn, type Person, type TestWeb } from '@troupe/testing/services/web';

/** Keys and invites: every row of 4.2 and every error row. */

const DAY_MS = 86_400_000;
let now = Date.now();
let web: TestWeb;
let person: Person;
let admin: Person;

before(async () => {
  web = await startWeb({ clock: () => new Date(now) });
  person = await web.signUp();
  admin = await web.signUpAdmin();
});
after(() => web.stop());

type Case = [body: unknown, status: number, reply: unknown];

describe('keys', () => {
  test('POST /api/keys shows the key once; the list and the single read show a preview', async () => {
    const created = await person.ask('POST', '/api/keys', { name: ' laptop ' });
    assert.equal(created.status, 201);
    const { id, name, key, createdAt } = created.body;
    assert.deepEqual(Object.keys(created.body).sort(), ['createdAt', 'id', 'key', 'name']);
    assert.match(key, /^sk_[0-9a-f]{64}$/);
    assert.equal(name, 'laptop');
    const item = { id, name, keyPreview: `${key.slice(0, 10)}...`, createdAt, lastUsed: null, origins: [] };
    assert.deepEqual((await person.ask('GET', '/api/keys')).body, { keys: [item] });
    assert.deepEqual((await person.ask('GET', `/api/keys/${id}`)).body, item);
  });

  test('a key names the pages that may use it', async () => {
    const origins = ['https://app.example.org', 'http://localhost:5173', '*'];
    const { id } = (await person.ask('POST', '/api/keys', { name: 'page', origins })).body;
    assert.deepEqual((await person.ask('GET', `/api/keys/${id}`)).body.origins, origins);
    for (const bad of ['app.example.org', 'https://app.example.org/', 'https://app.example.org/a', 'null', '']) {
      const answer = await person.ask('POST', '/api/keys', { name: 'page', origins: [bad] });
      assert.equal(answer.status, 400, bad);
      assert.match(answer.body.error, /^An origin is a scheme and a host/);
    }
    await person.ask('DELETE', `/api/keys/${id}`);
  });

  test('only the hash of a key is stored', async () => {
    const { key } = (await person.ask('POST', '/api/keys', { name: 'hashed' })).body;
    const rows = await web.deps.db.system.selectFrom('api_keys').selectAll().execute();
    assert.ok(!JSON.stringify(rows).includes(key.slice(3)));
  });

  test('400, 401, 404', async () => {
    const cases: Case[] = [
      [{}, 400, { error: 'Name required' }],
      [{ name: '   ' }, 400, { error: 'Name required' }],
      [{ name: 7 }, 400, { error: 'Name required' }],
      [{ name: 'x'.repeat(65) }, 400, { error: 'Name too long (max 64 chars)' }],
      [{ name: 'a\0b' }, 400, { error: 'Null characters are not allowed' }],
    ];
    for (const [body, status, reply] of cases) {
      const answer = await person.ask('POST', '/api/keys', body);
      assert.deepEqual([answer.status, answer.body], [status, reply]);
    }
    const guest = web.visitor();
    const { keys } = (await person.ask('GET', '/api/keys')).body;
    for (const [method, path] of [
      ['GET', '/api/keys'],
      ['POST', '/api/keys'],
      ['GET', `/api/keys/${keys[0].id}`],
      ['DELETE', `/api/keys/${keys[0].id}`],
    ] as const) {
      const answer = await guest.ask(method, path, method === 'POST' ? { name: 'x' } : undefined);
      assert.deepEqual([answer.status, answer.body], [401, { error: 'Unauthorized' }]);
    }
    const stranger = await web.signUp();
    for (const method of ['GET', 'DELETE'])
      for (const id of [keys[0].id, 'unknown', 'a'.repeat(500)]) {
        const answer = await stranger.ask(method, `/api/keys/${id}`);
        assert.deepEqual([answer.status, answer.body], [404, { error: 'Key not found' }]);
      }
    assert.equal((await person.ask('GET', '/api/keys/%00')).status, 400);
  });

  test('at most ten a user, also when asked for at once', async () => {
    const collector = await web.signUp();
    const replies = await Promise.all(
      Array.from({ length: 14 }, (_, index) => collector.ask('POST', '/api/keys', { name: `k${index}` })),
    );
    assert.equal(replies.filter(({ status }) => status === 201).length, 10);
    const refused = replies.find(({ status }) => status !== 201);
    assert.deepEqual([refused?.status, refused?.body], [429, { error: 'Too many keys (max 10)' }]);
  });

  test('a key is its user on endpoints marked S, except keys, password and sessions; lastUsed moves', async () => {
    const owner = await web.signUp();
    const { id, key } = (await owner.ask('POST', '/api/keys', { name: 'cli' })).body;
    const bearer = { authorization: `Bearer ${key}` };
    const guest = web.visitor();
    assert.equal((await guest.ask('GET', '/api/settings', undefined, bearer)).body.id, owner.id);
    for (const [method, path, body] of [
      ['POST', '/api/keys', { name: 'another' }],
      ['POST', '/api/settings/password', { currentPassword: owner.password, newPassword: 'long enough' }],
      ['GET', '/api/auth/sessions', undefined],
      ['DELETE', '/api/auth/sessions/x', undefined],
    ] as const)
      assert.equal((await guest.ask(method, path, body, bearer)).status, 401, path);
    const moved = await guest.ask('POST', '/api/settings', { name: 'By key', email: 'thief@example.com' }, bearer);
    assert.deepEqual([moved.status, moved.body], [403, { error: 'Sign in to change the e-mail address' }]);
    assert.equal((await guest.ask('POST', '/api/settings', { name: 'By key' }, bearer)).body.name, 'By key');
    now += 61_000;
    await guest.ask('GET', '/api/settings', undefined, bearer);
    const used = await until(async () => (await owner.ask('GET', `/api/keys/${id}`)).body.lastUsed as string | null);
    assert.ok(Date.parse(used) <= now);
    assert.deepEqual((await guest.ask('DELETE', `/api/keys/${id}`, undefined, bearer)).body, { success: true });
    assert.equal((await guest.ask('GET', '/api/settings', undefined, bearer)).status, 401);
  });

  test('POST /api/keys/validate', async () => {
    const owner = await web.signUp();
    const { key } = (await owner.ask('POST', '/api/keys', { name: 'v' })).body;
    const validate = (body: unknown) => web.visitor().ask('POST', '/api/keys/validate', body);
    const plain = { valid: true, userId: owner.id, email: owner.email };
    assert.deepEqual((await validate({ apiKey: key })).body, {
      ...plain,
      plan: null,
      subscriptionStatus: 'inactive',
      features: [],
    });
    await admin.ask('PATCH', `/api/admin/users/${owner.id}`, { plan: 'collective', subscriptionStatus: 'active' });
    assert.deepEqual((await validate({ apiKey: key })).body, {
      ...plain,
      plan: 'collective',
      subscriptionStatus: 'active',
      features: ['agents', 'ai', 'underground', 'teams'],
    });
    const cases: Case[] = [
      [{}, 400, { valid: false, error: 'Missing API key' }],
      [{ apiKey: 5 }, 400, { valid: false, error: 'Missing API key' }],
      [{ apiKey: key.slice(3) }, 401, { valid: false, error: 'Invalid API key' }],
      [{ apiKey: `sk_${'0'.repeat(64)}` }, 401, { valid: false, error: 'Invalid API key' }],
      [{ apiKey: 'sk_\0' }, 400, { valid: false, error: 'Null characters are not allowed' }],
    ];
    for (const [body, status, reply] of cases) {
      const answer = await validate(body);
      assert.deepEqual([answer.status, answer.body], [status, reply]);
    }
  });

  test('POST /api/validate-key of the backend takes the key as bearer, with or without its prefix', async () => {
    const backend = await createBackend({ ...web.deps, url: 'http://127.0.0.1:3001' });
    const { key } = (await person.ask('POST', '/api/keys', { name: 'backend' })).body;
    const validate = (authorization?: string) =>
      backend.server.app.inject({
        method: 'POST',
        url: '/api/validate-key',
        headers: authorization === undefined ? {} : { authorization },
      });
    const good = { valid: true, userId: person.id, plan: null, features: [] };
    assert.deepEqual((await validate(`Bearer ${key}`)).json(), good);
    assert.deepEqual((await validate(`Bearer ${key.slice(3)}`)).json(), good);
    for (const [authorization, error] of [
      [undefined, 'Missing API key'],
      [key, 'Missing API key'],
      ['Bearer ', 'Missing API key'],
      ['Bearer sk_nothing', 'Invalid API key'],
      [`Bearer ${'0'.repeat(64)}`, 'Invalid API key'],
    ] as const) {
      const answer = await validate(authorization);
      assert.deepEqual([answer.statusCode, answer.json()], [401, { valid: false, error }], String(authorization));
    }
    await backend.close();
  });
});

describe('invites', () => {
  const invite = async (by: Person) => (await by.ask('POST', '/api/invite', { name: 'Guest' })).body.token as string;
  const verify = (token: unknown) => web.visitor().ask('POST', '/api/invites/verify', { token });
  const register = (body: Record<string, unknown>) =>
    web.visitor().ask('POST', '/api/register', {
      email: `${Math.random()}@example.com`,
      password: 'long enough',
      ...body,
    });

  test('POST /api/invite answers success, inviteUrl and a token of 64 hex', async () => {
    const { status, body } = await person.ask('POST', '/api/invite', { name: "Seán O'Brien-Ñandú, esq." });
    assert.equal(status, 200);
    assert.match(body.token, /^[0-9a-f]{64}$/);
    assert.deepEqual(body, {
      success: true,
      inviteUrl: `http://127.0.0.1:3000/invite?token=${body.token}`,
      token: body.token,
    });
  });

  test('400 and 401', async () => {
    const cases: [unknown, string][] = [
      [{}, 'Name required'],
      [{ name: ' ' }, 'Name required'],
      [{ name: 1 }, 'Name required'],
      [{ name: 'x'.repeat(101) }, 'Invalid name'],
      [{ name: "x' OR '1'='1" }, 'Invalid name'],
      [{ name: 'x; DROP TABLE users' }, 'Invalid name'],
      [{ name: 'x union all select password' }, 'Invalid name'],
      [{ name: 'delete from users' }, 'Invalid name'],
      [{ name: 'x -- y' }, 'Invalid name'],
      [{ name: '<script>alert(1)</script>' }, 'Invalid name'],
      [{ name: 'javascript:alert(1)' }, 'Invalid name'],
      [{ name: 'x onerror=alert(1)' }, 'Invalid name'],
      [{ name: 'x\0y' }, 'Null characters are not allowed'],
    ];
    for (const [body, error] of cases) {
      const answer = await person.ask('POST', '/api/invite', body);
      assert.deepEqual([answer.status, answer.body], [400, { error }], JSON.stringify(body));
    }
    assert.equal((await web.visitor().ask('POST', '/api/invite', { name: 'x' })).status, 401);
  });

  test('404 for a user who is deleted while the request waits', async () => {
    const gone = await web.signUp();
    // A deleted user has no session: only who was let in a moment before can come as far as this.
    const asked = await web.deps.db.asSystem(async (tx) => {
      await tx.deleteFrom('users').where('id', '=', gone.id).execute();
      const answer = gone.ask('POST', '/api/invite', { name: 'Guest' });
      const waits = sql`select from pg_locks where not granted and pid in (
        select pid from pg_stat_activity where datname = current_database())`;
      while ((await waits.execute(tx)).rows.length === 0) await new Promise(setImmediate);
      return { answer };
    });
    const { status, body } = await asked.answer;
    assert.deepEqual([status, body], [404, { error: 'User not found' }]);
    assert.equal((await gone.ask('POST', '/api/invite', { name: 'Guest' })).status, 401);
  });

  test('POST /api/invites/verify: the plan and nothing about who; 400, 404, 410', async () => {
    const token = await invite(person);
    assert.deepEqual((await verify(token)).body, { valid: true, plan: 'solo' });
    assert.deepEqual((await verify(token.toUpperCase())).body, { valid: true, plan: 'solo' });
    const cases: Case[] = [
      [undefined, 400, { error: 'Invite token is required' }],
      [5, 400, { error: 'Invite token is required' }],
      ['', 400, { error: 'Invite token is required' }],
      ['abc', 400, { error: 'Invalid invite token format' }],
      ['0123456789ab', 400, { error: 'Invalid invite token format' }],
      ['z'.repeat(64), 400, { error: 'Invalid invite token format' }],
      ['0'.repeat(64), 404, { error: 'Invalid or expired invite' }],
    ];
    for (const [given, status, reply] of cases) {
      const answer = await verify(given);
      assert.deepEqual([answer.status, answer.body], [status, reply], String(given));
    }
    assert.equal((await register({ inviteToken: token })).status, 200);
    const used = await verify(token);
    assert.deepEqual([used.status, used.body], [410, { error: 'Invite has already been used' }]);
  });

  test('an invite lives 14 days', async () => {
    const token = await invite(person);
    const start = now;
    now = start + 14 * DAY_MS - 1;
    assert.equal((await verify(token)).status, 200);
    now = start + 14 * DAY_MS;
    assert.deepEqual((await verify(token)).body, { error: 'Invalid or expired invite' });
    const late = await register({ inviteToken: token });
    assert.deepEqual([late.status, late.body], [404, { error: 'Invalid or expired invite' }]);
    now = start;
  });

  test('a user’s invite: plan solo, not yet paid, ten credits for both', async () => {
    const host = await web.signUp();
    const guest = await web.signUp({ inviteToken: await invite(host) });
    const { plan, credits } = (await guest.ask('GET', '/api/settings')).body;
    assert.deepEqual([plan, credits], ['solo', 10]);
    assert.equal((await host.ask('GET', '/api/credits')).body.credits, 10);
    const row = await status(guest.id);
    assert.equal(row, 'inactive');
  });

  test('an admin’s invite, by either endpoint: plan solo with an active subscription', async () => {
    const { code } = (await admin.ask('POST', '/api/admin/invites', { email: ' Guest@Example.com' })).body;
    for (const inviteToken of [code, await invite(admin)]) {
      const guest = await web.signUp({ inviteToken });
      const { plan, credits } = (await guest.ask('GET', '/api/settings')).body;
      assert.deepEqual([plan, credits, await status(guest.id)], ['solo', 0, 'active']);
    }
  });

  test('nobody is registered with an invite that cannot be used', async () => {
    const email = 'not-registered@example.com';
    assert.equal((await register({ email, inviteToken: '0'.repeat(64) })).status, 404);
    assert.equal((await register({ email })).status, 200);
  });

  test('used twice at once: one wins, the other is nobody', async () => {
    const token = await invite(person);
    const emails = ['one@twice.example', 'two@twice.example'];
    const replies = await Promise.all(emails.map((email) => register({ email, inviteToken: token })));
    assert.deepEqual(
      replies.map(({ status }) => status).sort((a, b) => a - b),
      [200, 410],
    );
    const people = await web.deps.db.system.selectFrom('users').select('id').where('email', 'in', emails).execute();
    assert.equal(people.length, 1);
  });

  test('at most 20 open invites for a user, any number for an admin', async () => {
    const host = await web.signUp();
    const replies = await Promise.all(
      Array.from({ length: 22 }, () => host.ask('POST', '/api/invite', { name: 'Guest' })),
    );
    assert.equal(replies.filter(({ status }) => status === 200).length, 20);
    const refused = replies.find(({ status }) => status !== 200);
    assert.deepEqual([refused?.status, refused?.body], [429, { error: 'Too many open invites (max 20)' }]);
    const many = await Promise.all(
      Array.from({ length: 22 }, () => admin.ask('POST', '/api/invite', { name: 'Guest' })),
    );
    assert.ok(many.every(({ status }) => status === 200));
  });

  test('POST /api/admin/invites mails the link; the list shows code, email and state', async () => {
    const { status, body } = await admin.ask('POST', '/api/admin/invites', { email: 'Mailed@Example.com' });
    assert.equal(status, 200);
    assert.deepEqual(body, {
      success: true,
      code: body.code,
      email: 'mailed@example.com',
      inviteUrl: `http://127.0.0.1:3000/invite?token=${body.code}`,
    });
    assert.equal(tokenIn(await web.mailTo('mailed@example.com', /invited/)), body.code);
    const guest = await web.signUp({ inviteToken: body.code });
    const list = (await admin.ask('GET', '/api/admin/invites')).body;
    const item = list.invites.find(({ code }: { code: string }) => code === body.code);
    assert.deepEqual([item.email, item.status, item.userId], ['mailed@example.com', 'used', guest.id]);
    assert.ok(Date.parse(item.usedAt) >= Date.parse(item.createdAt));
    assert.ok(list.total > list.active);
    const stored = await web.deps.db.system.selectFrom('invites').selectAll().execute();
    assert.ok(!JSON.stringify(stored).includes(body.code));
  });

  test('admin invites: 403, 400', async () => {
    for (const who of [person, web.visitor()])
      for (const [method, body] of [
        ['GET', undefined],
        ['POST', { email: 'a@b.cc' }],
      ] as const) {
        const answer = await who.ask(method, '/api/admin/invites', body);
        assert.deepEqual(
          [answer.status, answer.body],
          [403, { error: 'Admin access required.', code: 'ADMIN_REQUIRED' }],
        );
      }
    const cases: [unknown, string][] = [
      [{}, 'Email is required'],
      [{ email: 'nonsense' }, 'Invalid email format'],
    ];
    for (const [body, error] of cases) {
      const answer = await admin.ask('POST', '/api/admin/invites', body);
      assert.deepEqual([answer.status, answer.body], [400, { error }]);
    }
  });

  test('the 12-character endpoints are gone, and say what to use', async () => {
    for (const [path, replacement] of [
      ['/api/invite/generate', '/api/invite'],
      ['/api/invite/validate', '/api/invites/verify'],
    ] as const) {
      const answer = await web.visitor().ask('POST', path, { code: 'ABCDEFGHIJKL' });
      assert.deepEqual([answer.status, answer.body.replacement], [410, replacement]);
    }
  });
});

async function status(userId: string): Promise<string> {
  const row = await web.deps.db.system
    .selectFrom('users')
    .select('subscription_status')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  return row.subscription_status;
}

/** Asks until there is an answer: what it waits for is written behind a request's back. */
async function until<T>(ask: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
  }
}
