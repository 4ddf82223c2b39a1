import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { startWeb, tokenIn, type TestWeb, type Visitor } from '@troupe/testing/services/web';

/** A password is changed, forgotten and set anew: every row of 4.1 about it and every error row. */

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

test('change: every other session ends', async () => {
  const person = await web.signUp();
  const other = web.visitor();
  await other.ask('POST', '/api/auth/login', person);
  const cases: Case[] = [
    [{}, 400, 'Current and new password required'],
    [{ currentPassword: 'x' }, 400, 'Current and new password required'],
    [{ currentPassword: person.password, newPassword: 'short' }, 400, 'Password must be at least 8 characters'],
    [{ currentPassword: 'wrong', newPassword: 'long enough' }, 401, 'Current password is incorrect'],
  ];
  for (const [body, status, error] of cases) {
    const reply = await person.ask('POST', '/api/settings/password', body);
    assert.deepEqual([reply.status, reply.body], [status, { error }]);
  }
  const body = { currentPassword: person.password, newPassword: 'a new password' };
  assert.deepEqual((await person.ask('POST', '/api/settings/password', body)).body, { success: true });
  assert.ok((await person.ask('GET', '/api/auth/session')).body.user);
  assert.equal((await other.ask('GET', '/api/auth/session')).body.user, null);
  const login = (password: string) => web.visitor().ask('POST', '/api/auth/login', { email: person.email, password });
  assert.equal((await login(person.password)).status, 401);
  assert.equal((await login('a new password')).status, 200);
  assert.equal((await web.visitor().ask('POST', '/api/settings/password', body)).status, 401);
});

test('forgotten: the same answer for everybody; the link works once and ends all sessions', async () => {
  const person = await web.signUp();
  const answer = { message: 'If an account exists, a reset link has been sent' };
  for (const email of ['nobody@example.com', ` ${person.email.toUpperCase()}`]) {
    const reply = await web.visitor().ask('POST', '/api/auth/forgot-password', { email });
    assert.deepEqual([reply.status, reply.body], [200, answer]);
  }
  const token = tokenIn(await web.mailTo(person.email, /Set a new password/));
  assert.match(token, /^[0-9a-f]{64}$/);
  const reset = () => web.visitor().ask('POST', '/api/auth/reset-password', { token, password: 'brand new one' });
  // Both at once: one wins.
  const replies = await Promise.all([reset(), reset()]);
  assert.deepEqual(
    replies.map(({ status }) => status).sort((a, b) => a - b),
    [200, 400],
  );
  assert.deepEqual(replies.find(({ status }) => status === 200)?.body, { message: 'Password reset successfully' });
  assert.deepEqual((await reset()).body, { error: 'Invalid or expired reset link' });
  assert.equal((await person.ask('GET', '/api/auth/session')).body.user, null);
  const login = await web.visitor().ask('POST', '/api/auth/login', { ...person, password: 'brand new one' });
  assert.equal(login.status, 200);
});

test('whoever guesses from everywhere keeps nobody out who reads the mail, or changed the password here', async () => {
  const person = await web.signUp();
  let calls = 0;
  const login = (visitor: Visitor, password: string) => {
    const address = `10.3.0.${(calls += 1)}`;
    const internal = { authorization: `Bearer ${TEST_SECRETS.internalKey}`, 'x-client-ip': address };
    return visitor.ask('POST', '/api/auth/login', { email: person.email, password }, internal);
  };
  const guess = async () => {
    for (let tries = 0; tries < 20; tries += 1) await login(web.visitor(), 'wrong');
    assert.equal((await login(web.visitor(), person.password)).status, 429);
  };
  await guess();
  await web.visitor().ask('POST', '/api/auth/forgot-password', { email: person.email });
  const token = tokenIn(await web.mailTo(person.email, /Set a new password/));
  const owner = web.visitor();
  await owner.ask('POST', '/api/auth/reset-password', { token, password: 'brand new one' });
  assert.equal((await login(web.visitor(), 'brand new one')).status, 200, 'what was counted before is forgotten');
  await guess();
  assert.equal((await login(owner, 'brand new one')).status, 200);
  const body = { currentPassword: 'brand new one', newPassword: 'a newer one' };
  assert.equal((await owner.ask('POST', '/api/settings/password', body)).status, 200);
  assert.equal((await login(owner, 'a newer one')).status, 200);
});

test('400', async () => {
  await refuses('/api/auth/forgot-password', [
    [{}, 400, 'Email is required'],
    [{ email: '  ' }, 400, 'Email is required'],
    [{ email: 'nonsense' }, 400, 'Invalid email format'],
    [{ email: 'a@b.cc', website: 'x' }, 403, 'Access denied'],
  ]);
  await refuses('/api/auth/reset-password', [
    [{}, 400, 'Token and password are required'],
    [{ token: 'x' }, 400, 'Token and password are required'],
    [{ token: 'x', password: 'short' }, 400, 'Password must be at least 8 characters'],
    [{ token: 'x', password: 'long enough' }, 400, 'Invalid or expired reset link'],
    [{ token: '\0', password: 'long enough' }, 400, 'Null characters are not allowed'],
    [{ token: 'a'.repeat(64), password: 'long enough' }, 400, 'Invalid or expired reset link'],
  ]);
});
