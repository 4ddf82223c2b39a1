import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';

/** Keys: every row of 4.2 and every error row. */

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

/** Asks until there is an answer: what it waits for is written behind a request's back. */
async function until<T>(ask: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
  }
}
