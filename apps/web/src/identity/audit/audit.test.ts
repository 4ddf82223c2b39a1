import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';

/** GET /api/audit: what is on record about an account, and who sees it. */

let web: TestWeb;
let admin: Person;
before(async () => {
  web = await startWeb();
  admin = await web.signUpAdmin();
});
after(() => web.stop());

interface Entry {
  userId: string | null;
  actorId: string | null;
  action: string;
  detail: Record<string, unknown>;
  ip: string | null;
}

const entries = async (who: Person, query = ''): Promise<Entry[]> =>
  (await who.ask('GET', `/api/audit${query}`)).body.entries;
const actions = async (who: Person) => (await entries(who)).map(({ action }) => action);
const login = (email: string, password: string) => web.visitor().ask('POST', '/api/auth/login', { email, password });

describe('failed sign-ins', () => {
  test('the owner of the account sees them, with method and address', async () => {
    const person = await web.signUp();
    await login(` ${person.email.toUpperCase()}`, 'wrong');
    const [newest] = await entries(person);
    assert.deepEqual(
      [newest?.action, newest?.userId, newest?.actorId, newest?.detail, newest?.ip],
      ['sign-in-failed', person.id, null, { method: 'password' }, '127.0.0.1'],
    );
    assert.deepEqual(await actions(person), ['sign-in-failed', 'sign-in', 'register']);
  });

  test('of an address that nobody has are for administrators alone, and the answer is the same', async () => {
    const person = await web.signUp();
    const answers = [await login(person.email, 'wrong'), await login('Nobody@Example.com', 'wrong')];
    for (const { status, body } of answers)
      assert.deepEqual([status, body], [401, { error: 'Invalid email or password' }]);
    const [newest] = await entries(admin);
    assert.deepEqual(
      [newest?.action, newest?.userId, newest?.detail],
      ['sign-in-failed', null, { method: 'password', email: 'nobody@example.com' }],
    );
    assert.ok((await entries(person)).every(({ userId }) => userId === person.id));
  });

  test('what is no address is not kept: it may be a password', async () => {
    await login('my secret password', 'x');
    const [newest] = await entries(admin);
    assert.deepEqual(newest?.detail, { method: 'password' });
  });

  test('the password is nowhere in the log, and refused tries add nothing to it', async () => {
    const person = await web.signUp();
    for (let tries = 0; tries < 7; tries += 1) await login(person.email, 'guessed password');
    const own = await entries(person);
    assert.equal(own.filter(({ action }) => action === 'sign-in-failed').length, 5);
    assert.doesNotMatch(JSON.stringify(own), /guessed/);
  });
});

test('keys, passwords, sessions and plans are on record; an administrator’s act names who did it', async () => {
  const person = await web.signUp();
  const { id } = (await person.ask('POST', '/api/keys', { name: 'cli' })).body;
  await person.ask('DELETE', `/api/keys/${id}`);
  await admin.ask('PATCH', `/api/admin/users/${person.id}`, { plan: 'label', subscriptionStatus: 'active' });
  await person.ask('POST', '/api/settings/password', { currentPassword: person.password, newPassword: 'another one' });
  assert.deepEqual(await actions(person), [
    'password-change',
    'plan-change',
    'key-deleted',
    'key-created',
    'sign-in',
    'register',
  ]);
  const granted = (await entries(admin, `?userId=${person.id}`)).find(({ action }) => action === 'plan-change');
  assert.equal(granted?.actorId, admin.id);
  assert.deepEqual(granted?.detail['to'], { plan: 'label', subscriptionStatus: 'active' });
});

test('nobody else reads it, and 401 without a session', async () => {
  const person = await web.signUp();
  const stranger = await web.signUp();
  assert.ok((await entries(stranger, `?userId=${person.id}`)).every(({ userId }) => userId === stranger.id));
  const reply = await web.visitor().ask('GET', '/api/audit');
  assert.deepEqual([reply.status, reply.body], [401, { error: 'Unauthorized' }]);
});
