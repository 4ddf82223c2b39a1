import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startWeb, tokenIn, type TestWeb } from '@troupe/testing/services/web';

/** With e-mail verification on. What it looks like without is in the tests of the contract. */

let now = Date.now();
let web: TestWeb;
before(async () => {
  web = await startWeb({ env: { EMAIL_VERIFICATION: 'on' }, clock: () => new Date(now) });
});
after(() => web.stop());

const verify = (token: string, who = web.visitor()) => who.ask('POST', '/api/auth/verify-email', { token });
const credits = async (who: { ask: (method: string, path: string) => Promise<{ body: { credits: number } }> }) =>
  (await who.ask('GET', '/api/credits')).body.credits;

test('credits come with the verified address, once, however often the link is opened at once', async () => {
  const giver = await web.signUp();
  const { referralCode } = (await giver.ask('GET', '/api/credits')).body;
  const newcomer = await web.signUp({ referralCode });
  assert.deepEqual([await credits(giver), await credits(newcomer)], [0, 0]);
  assert.equal((await newcomer.ask('GET', '/api/settings')).body.emailVerified, false);
  const token = tokenIn(await web.mailTo(newcomer.email, /Verify/));
  const replies = await Promise.all([1, 2, 3].map(() => verify(token, newcomer)));
  assert.deepEqual(
    replies.map(({ status }) => status).sort((a, b) => a - b),
    [200, 400, 400],
  );
  assert.deepEqual([await credits(giver), await credits(newcomer)], [10, 10]);
  assert.equal((await newcomer.ask('GET', '/api/settings')).body.emailVerified, true);
});

test('a user’s invite gives credits alike', async () => {
  const host = await web.signUp();
  const { token } = (await host.ask('POST', '/api/invite', { name: 'Guest' })).body;
  const guest = await web.signUp({ inviteToken: token });
  assert.equal(await credits(host), 0);
  await verify(tokenIn(await web.mailTo(guest.email, /Verify/)), guest);
  assert.deepEqual([await credits(host), await credits(guest)], [10, 10]);
});

test('a link proves the address for whoever is signed in to the account, and nothing of theirs goes', async () => {
  const person = await web.signUp();
  const { key } = (await person.ask('POST', '/api/keys', { name: 'mine' })).body;
  const other = web.visitor();
  await other.ask('POST', '/api/auth/login', person);
  const token = tokenIn(await web.mailTo(person.email, /Verify/));
  assert.deepEqual((await verify(token, person)).body, { success: true });
  const byKey = await web.visitor().ask('GET', '/api/settings', undefined, { authorization: `Bearer ${key}` });
  for (const reply of [byKey, await person.ask('GET', '/api/settings'), await other.ask('GET', '/api/settings')])
    assert.deepEqual([reply.status, reply.body.emailVerified], [200, true]);
  assert.equal((await web.visitor().ask('POST', '/api/auth/login', person)).status, 200);
});

test('opened elsewhere it ends what was made before; the password given with it is the account’s', async () => {
  const person = await web.signUp();
  const token = tokenIn(await web.mailTo(person.email, /Verify/));
  const given = (password: string) => web.visitor().ask('POST', '/api/auth/verify-email', { token, password });
  assert.deepEqual((await given('short')).body, { error: 'Password must be at least 8 characters' });
  assert.deepEqual((await given('chosen by its owner')).body, { success: true });
  assert.deepEqual((await given('chosen by another')).body, { error: 'Invalid or expired verification link' });
  assert.equal((await person.ask('GET', '/api/settings')).status, 401);
  const login = (password: string) => web.visitor().ask('POST', '/api/auth/login', { email: person.email, password });
  assert.equal((await login(person.password)).status, 401);
  assert.equal((await login('chosen by its owner')).status, 200);
});

test('whoever is signed in to another account is told so, and may choose a password', async () => {
  const [squatter, owner] = [await web.signUp(), await web.signUp()];
  const token = tokenIn(await web.mailTo(squatter.email, /Verify/));
  const told = await verify(token, owner);
  assert.deepEqual(
    [told.status, told.body],
    [409, { error: 'This link is for another account: sign out, then open it again' }],
  );
  assert.equal((await squatter.ask('GET', '/api/settings')).body.emailVerified, false);
  const proven = await owner.ask('POST', '/api/auth/verify-email', { token, password: 'of the owner' });
  assert.deepEqual(proven.body, { success: true });
  assert.equal((await squatter.ask('GET', '/api/settings')).status, 401);
  assert.equal((await owner.ask('GET', '/api/settings')).body.emailVerified, false);
});

test('a link lives 24 hours; another can be asked for, with the same answer for everybody', async () => {
  const person = await web.signUp();
  const first = tokenIn(await web.mailTo(person.email, /Verify/));
  now += 86_400_000;
  assert.deepEqual((await verify(first)).body, { error: 'Invalid or expired verification link' });
  const answer = { message: 'If an account exists, a verification link has been sent' };
  const before = web.mails().length;
  for (const email of ['nobody@example.com', person.email.toUpperCase()]) {
    const reply = await web.visitor().ask('POST', '/api/auth/verify-email/resend', { email });
    assert.deepEqual([reply.status, reply.body], [200, answer]);
  }
  const second = await until(() => web.mails().map(tokenIn).slice(before)[0]);
  assert.deepEqual((await verify(second)).body, { success: true });
  assert.ok(!web.mails().some((mail) => mail.includes('To: nobody@example.com')));
});

test('400: what is missing', async () => {
  assert.deepEqual((await web.visitor().ask('POST', '/api/auth/verify-email', {})).body, {
    error: 'Token is required',
  });
  for (const token of ['nonsense', '0'.repeat(64)])
    assert.deepEqual((await verify(token)).body, { error: 'Invalid or expired verification link' });
  const resend = (body: unknown) => web.visitor().ask('POST', '/api/auth/verify-email/resend', body);
  assert.deepEqual((await resend({})).body, { error: 'Email is required' });
  assert.deepEqual((await resend({ email: 'x' })).body, { error: 'Invalid email format' });
});

test('a changed address is unverified, and links to the old one are worth nothing', async () => {
  const person = await web.signUp();
  const oldVerify = tokenIn(await web.mailTo(person.email, /Verify/));
  await web.visitor().ask('POST', '/api/auth/forgot-password', { email: person.email });
  const oldReset = tokenIn(await web.mailTo(person.email, /Set a new password/));
  const email = `moved-${person.email}`;
  assert.equal((await person.ask('POST', '/api/settings', { email })).body.emailVerified, false);
  assert.equal((await verify(oldVerify)).status, 400);
  const reset = await web
    .visitor()
    .ask('POST', '/api/auth/reset-password', { token: oldReset, password: 'taken over' });
  assert.equal(reset.status, 400);
  await verify(tokenIn(await web.mailTo(email, /Verify/)), person);
  assert.equal((await person.ask('GET', '/api/settings')).body.emailVerified, true);
});

test('whoever resets the password by mail has proved the address', async () => {
  const person = await web.signUp();
  await web.visitor().ask('POST', '/api/auth/forgot-password', { email: person.email });
  const token = tokenIn(await web.mailTo(person.email, /Set a new password/));
  await web.visitor().ask('POST', '/api/auth/reset-password', { token, password: 'brand new one' });
  await person.ask('POST', '/api/auth/login', { email: person.email, password: 'brand new one' });
  assert.equal((await person.ask('GET', '/api/settings')).body.emailVerified, true);
});

test('a reset link lives one hour', async () => {
  const person = await web.signUp();
  await web.visitor().ask('POST', '/api/auth/forgot-password', { email: person.email });
  const token = tokenIn(await web.mailTo(person.email, /Set a new password/));
  now += 3_600_000;
  const reply = await web.visitor().ask('POST', '/api/auth/reset-password', { token, password: 'brand new one' });
  assert.deepEqual(reply.body, { error: 'Invalid or expired reset link' });
});

/** Asks again until there is something: mails are written behind the request. */
async function until<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look();
    if (found) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
