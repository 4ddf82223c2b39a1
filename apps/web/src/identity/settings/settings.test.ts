import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startWeb, type TestWeb } from '@troupe/testing/services/web';

/** The profile: every row of 4.1 about it and every error row. */

let web: TestWeb;
before(async () => {
  web = await startWeb();
});
after(() => web.stop());

type Case = [body: unknown, status: number, error: string];

test('GET: the profile, or 401', async () => {
  const person = await web.signUp({ name: 'Ada' });
  assert.deepEqual((await person.ask('GET', '/api/settings')).body, {
    id: person.id,
    email: person.email,
    emailVerified: true,
    name: 'Ada',
    plan: null,
    credits: 0,
    twoFactorEnabled: false,
    notifications: {},
    instance: null,
  });
  const reply = await web.visitor().ask('GET', '/api/settings');
  assert.deepEqual([reply.status, reply.body], [401, { error: 'Unauthorized' }]);
});

test('GET names the main agent and where it is reached', async () => {
  const person = await web.signUp();
  const agents = ['first', 'second'].map((id, index) => ({
    id,
    user_id: person.id,
    name: id,
    created_at: new Date(index),
  }));
  await web.deps.db.system.insertInto('agents').values(agents).execute();
  assert.deepEqual((await person.ask('GET', '/api/settings')).body.instance, {
    id: 'first',
    url: 'https://first.agents.localhost',
  });
});

test('POST and PATCH: name, notifications, and e-mail with POST', async () => {
  const person = await web.signUp();
  const patched = await person.ask('PATCH', '/api/settings', { name: 'Neu', notifications: { weekly: true } });
  assert.deepEqual([patched.body.name, patched.body.notifications], ['Neu', { weekly: true }]);
  const moved = await person.ask('POST', '/api/settings', { email: ` NEW-${person.email}` });
  assert.deepEqual([moved.body.email, moved.body.name], [`new-${person.email}`, 'Neu']);
  const old = await web.visitor().ask('POST', '/api/auth/login', person);
  assert.equal(old.status, 401);
  assert.match(await web.mailTo(person.email, /address was changed/), /another e-mail address/);
});

test('400 and 409', async () => {
  const person = await web.signUp();
  const other = await web.signUp();
  const cases: Case[] = [
    [{ email: 'nonsense' }, 400, 'Invalid email format'],
    [{ email: 5 }, 400, 'Invalid email format'],
    [{ email: `0x${'a'.repeat(40)}@wallet.svc` }, 400, 'Invalid email format'],
    [{ name: 'a\0b' }, 400, 'Null characters are not allowed'],
    [{ notifications: { a: '\0' } }, 400, 'Null characters are not allowed'],
    [{ notifications: 'all' }, 400, 'notifications must be a record'],
    [{ email: other.email.toUpperCase() }, 409, 'Email already in use'],
  ];
  for (const [body, status, error] of cases) {
    const reply = await person.ask('POST', '/api/settings', body);
    assert.deepEqual([reply.status, reply.body], [status, { error }]);
  }
  assert.equal((await person.ask('GET', '/api/settings')).body.email, person.email);
});
