import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, beforeEach, test } from 'node:test';
import { scriptEnv } from '@troupe/testing/backups/scripts';
import { codeAt, secretBytes } from '@troupe/testing/identity/authenticator';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';

let web: TestWeb;
let now = Date.now();
const later = (ms: number) => (now += ms);
const MINUTE = 60_000;

before(async () => {
  web = await startWeb({ clock: () => new Date(now) });
});
after(() => web.stop());
// Each test in periods of its own: a code counts once.
beforeEach(() => later(5 * MINUTE));

const codeNow = (secret: string, ahead = 0): string => codeAt(secret, new Date(now), ahead);
const notACode = (secret: string): string => {
  const right = new Set([-1, 0, 1].map((ahead) => codeNow(secret, ahead)));
  return ['000000', '000001', '000002', '000003'].find((code) => !right.has(code))!;
};

interface Careful extends Person {
  secret: string;
  codes: string[];
  factorId: string;
}

/** Somebody with an authenticator app. */
async function careful(given: Record<string, unknown> = {}): Promise<Careful> {
  const person = await web.signUp(given);
  const started = await person.ask('POST', '/api/settings/factors/totp', { name: 'Phone' });
  assert.equal(started.status, 200, JSON.stringify(started.body));
  const { id, secret } = started.body;
  const confirmed = await person.ask('POST', `/api/settings/factors/totp/${id}`, { code: codeNow(secret) });
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body));
  later(MINUTE);
  return { ...person, secret, codes: confirmed.body.recoveryCodes, factorId: id };
}

/** Somebody at the second step. */
async function halfway({ email, password }: Person) {
  const visitor = web.visitor();
  const answer = await visitor.ask('POST', '/api/auth/login', { email, password });
  assert.deepEqual([answer.status, answer.body.ok], [200, false]);
  return visitor;
}

const pass = '/api/auth/second-step';

test('without a second factor signing in is what it was', async () => {
  const person = await web.signUp();
  const again = web.visitor();
  const answer = await again.ask('POST', '/api/auth/login', { email: person.email, password: person.password });
  assert.deepEqual(Object.keys(answer.body), ['ok', 'user']);
  assert.ok(again.token());
  assert.equal((await person.ask('GET', '/api/settings')).body.twoFactorEnabled, false);
});

test('with one, a password opens nothing; a code does, and the account says so', async () => {
  const person = await careful();
  assert.equal((await person.ask('GET', '/api/settings')).body.twoFactorEnabled, true);
  const visitor = await halfway(person);
  assert.equal(visitor.token(), undefined);
  assert.equal((await visitor.ask('GET', '/api/auth/session')).body.user, null);
  assert.deepEqual((await visitor.ask('GET', pass)).body.methods, ['totp', 'recovery']);
  const passed = await visitor.ask('POST', pass, { code: codeNow(person.secret) });
  assert.deepEqual([passed.status, passed.body.user.id], [200, person.id]);
  assert.equal((await visitor.ask('GET', '/api/settings')).body.id, person.id);
  const [entry] = (await visitor.ask('GET', '/api/audit')).body.entries;
  assert.deepEqual([entry.action, entry.detail], ['sign-in', { method: 'password', secondStep: 'totp' }]);
  await web.mailTo(person.email, /second factor was added/);
});

test('the cookie of the step is worth nothing as a session, nor after it was used', async () => {
  const person = await careful();
  const visitor = web.visitor();
  const login = await visitor.ask('POST', '/api/auth/login', { email: person.email, password: person.password });
  const [set = ''] = login.headers.getSetCookie();
  assert.match(set, /^svc-sign-in=[0-9a-f]{64};.*Path=\/api\/auth\/second-step.*HttpOnly.*SameSite=Lax/i);
  const step = set.split(';')[0]!;
  const asSession = { cookie: step.replace('svc-sign-in', 'svc-session') };
  assert.equal((await web.visitor().ask('GET', '/api/settings', undefined, asSession)).status, 401);
  assert.equal((await visitor.ask('POST', pass, { code: codeNow(person.secret) })).status, 200);
  later(MINUTE);
  const reused = await web.visitor().ask('POST', pass, { code: codeNow(person.secret) }, { cookie: step });
  assert.deepEqual([reused.status, reused.body], [401, { error: 'Sign in again' }]);
});

test('a code counts once, also for two at the same moment', async () => {
  const person = await careful();
  const code = codeNow(person.secret);
  const visitors = await Promise.all([halfway(person), halfway(person), halfway(person)]);
  const statuses = await Promise.all(visitors.map(async (one) => (await one.ask('POST', pass, { code })).status));
  assert.deepEqual(
    [statuses.filter((one) => one === 200).length, statuses.filter((one) => one === 401).length],
    [1, 2],
  );
  assert.equal((await (await halfway(person)).ask('POST', pass, { code })).status, 401);
  later(30_000);
  // The one before is still within its time, and was overtaken.
  assert.equal((await (await halfway(person)).ask('POST', pass, { code })).status, 401);
  assert.equal((await (await halfway(person)).ask('POST', pass, { code: codeNow(person.secret) })).status, 200);
});

test('guessing ends: five tries of one sign-in, ten of all in a day, however many at once', async () => {
  const person = await careful();
  const one = await halfway(person);
  const guess = async (visitor: typeof one) =>
    (await visitor.ask('POST', pass, { code: notACode(person.secret) })).status;
  const first: number[] = [];
  for (let tried = 0; tried < 6; tried += 1) first.push(await guess(one));
  assert.deepEqual(first, [401, 401, 401, 401, 401, 401]);
  // The sixth was not even looked at, and neither is the right one.
  assert.deepEqual((await one.ask('POST', pass, { code: codeNow(person.secret) })).body, { error: 'Sign in again' });
  await web.mailTo(person.email, /Somebody knows your password/);
  const many = await Promise.all([halfway(person), halfway(person), halfway(person), halfway(person)]);
  const rest = await Promise.all(many.flatMap((visitor) => [guess(visitor), guess(visitor), guess(visitor)]));
  assert.equal(rest.filter((status) => status === 401).length, 5);
  assert.equal(rest.filter((status) => status === 429).length, 7);
  const spent = await (await halfway(person)).ask('POST', pass, { code: codeNow(person.secret) });
  assert.equal(spent.status, 429);
  // Its owner is not locked out.
  const recovered = await (await halfway(person)).ask('POST', pass, { recoveryCode: person.codes[0] });
  assert.equal(recovered.status, 200);
  later(25 * 60 * MINUTE);
  assert.equal((await (await halfway(person)).ask('POST', pass, { code: codeNow(person.secret) })).status, 200);
});

test('a failed second step is on record for the account', async () => {
  const person = await careful();
  await (await halfway(person)).ask('POST', pass, { code: notACode(person.secret) });
  const { entries } = (await person.ask('GET', '/api/audit')).body;
  assert.deepEqual(
    [entries[0].action, entries[0].detail],
    ['sign-in-failed', { method: 'password', reason: 'second step' }],
  );
});

test('recovery codes work once each, are stored as hashes, and new ones end the old', async () => {
  const person = await careful();
  assert.equal(new Set(person.codes).size, 10);
  for (const code of person.codes) assert.match(code, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
  const typed = person.codes[0]!.toUpperCase().replaceAll('-', ' ');
  assert.equal((await (await halfway(person)).ask('POST', pass, { recoveryCode: typed })).status, 200);
  assert.equal((await (await halfway(person)).ask('POST', pass, { recoveryCode: person.codes[0] })).status, 401);
  await web.mailTo(person.email, /Codes left: 9/);
  const rows = await web.deps.db.system
    .selectFrom('recovery_codes')
    .selectAll()
    .where('user_id', '=', person.id)
    .execute();
  assert.equal(rows.length, 9);
  assert.ok(rows.every(({ code_hash }) => /^[0-9a-f]{64}$/.test(code_hash)));
  const fresh = await person.ask('POST', '/api/settings/recovery-codes');
  assert.equal(fresh.body.recoveryCodes.length, 10);
  assert.equal((await (await halfway(person)).ask('POST', pass, { recoveryCode: person.codes[1] })).status, 401);
  const [code] = fresh.body.recoveryCodes;
  assert.equal((await (await halfway(person)).ask('POST', pass, { recoveryCode: code })).status, 200);
});

test("another's code, recovery code and step are of no use", async () => {
  const [ann, bob] = [await careful(), await careful()];
  const visitor = await halfway(ann);
  assert.equal((await visitor.ask('POST', pass, { code: codeNow(bob.secret) })).status, 401);
  assert.equal((await visitor.ask('POST', pass, { recoveryCode: bob.codes[0] })).status, 401);
  const removed = await bob.ask('DELETE', `/api/settings/factors/${ann.factorId}`);
  assert.deepEqual([removed.status, removed.body], [404, { error: 'Factor not found' }]);
});

test('a reset by mail sets the password and leaves the second step', async () => {
  const person = await careful();
  const visitor = await halfway(person);
  await web.visitor().ask('POST', '/api/auth/forgot-password', { email: person.email });
  const mail = await web.mailTo(person.email, /Set a new password/);
  const token = /token=([0-9a-f]{64})/.exec(mail)![1];
  const reset = await web.visitor().ask('POST', '/api/auth/reset-password', { token, password: 'another one' });
  assert.equal(reset.status, 200);
  // A sign-in that was half done with the old password is over.
  assert.equal((await visitor.ask('POST', pass, { code: codeNow(person.secret) })).status, 401);
  const after = await halfway({ ...person, password: 'another one' });
  assert.equal((await after.ask('POST', pass, { code: codeNow(person.secret) })).status, 200);
});

test('a step is over after ten minutes', async () => {
  const person = await careful();
  const visitor = await halfway(person);
  later(11 * MINUTE);
  assert.equal((await visitor.ask('GET', pass)).status, 401);
  assert.equal((await visitor.ask('POST', pass, { code: codeNow(person.secret) })).status, 401);
});

test('the database itself refuses a session without the second step', async () => {
  const person = await careful();
  const made = web.deps.db.system
    .insertInto('sessions')
    .values({
      id: 's-without',
      user_id: person.id,
      token_hash: 'x',
      device: 'old release',
      ip: '::1',
      created_at: new Date(now),
      last_seen_at: new Date(now),
      expires_at: new Date(now + MINUTE),
    })
    .execute();
  await assert.rejects(made, /needs the second step/);
});

test('one proof is given, not none and not two', async () => {
  const person = await careful();
  const visitor = await halfway(person);
  for (const body of [{}, { code: '1', recoveryCode: '2' }])
    assert.equal((await visitor.ask('POST', pass, body)).status, 400);
  assert.equal((await web.visitor().ask('POST', pass, { code: '000000' })).status, 401);
  assert.equal((await visitor.ask('POST', pass, { code: 'x'.repeat(100_000) })).status, 400);
});

test('what is sensitive asks again, and not by the password alone', async () => {
  const person = await careful();
  assert.equal((await person.ask('POST', '/api/keys', { name: 'k' })).status, 201);
  later(16 * MINUTE);
  const tries: [string, string, unknown?][] = [
    ['POST', '/api/keys', { name: 'k2' }],
    ['POST', '/api/settings', { email: 'elsewhere@example.org' }],
    ['POST', '/api/settings/factors/totp', { name: 'Other' }],
    ['POST', '/api/settings/factors/passkeys/options'],
    ['POST', '/api/settings/recovery-codes'],
    ['DELETE', `/api/settings/factors/${person.factorId}`],
  ];
  for (const [method, path, body] of tries) {
    const refused = await person.ask(method, path, body);
    assert.deepEqual([path, refused.status, refused.body.code], [path, 403, 'CONFIRM_FIRST']);
  }
  assert.equal((await person.ask('PATCH', '/api/settings', { name: 'Ann' })).status, 200);
  const byPassword = await person.ask('POST', '/api/auth/confirm', { password: person.password });
  assert.equal(byPassword.status, 403);
  assert.equal((await person.ask('POST', '/api/auth/confirm', { code: notACode(person.secret) })).status, 401);
  const confirmed = await person.ask('POST', '/api/auth/confirm', { code: codeNow(person.secret) });
  assert.equal(Date.parse(confirmed.body.until), now + 15 * MINUTE);
  assert.equal((await person.ask('POST', '/api/keys', { name: 'k2' })).status, 201);
  assert.equal((await person.ask('DELETE', `/api/settings/factors/${person.factorId}`)).status, 200);
  await web.mailTo(person.email, /second factor was removed/);
  const back = web.visitor();
  assert.equal(
    (await back.ask('POST', '/api/auth/login', { email: person.email, password: person.password })).body.ok,
    true,
  );
  assert.equal((await person.ask('GET', '/api/settings/factors')).body.recoveryCodesLeft, 0);
});

test('letting a program in asks again', async () => {
  const person = await careful();
  const redirect_uri = 'http://127.0.0.1:9/back';
  const client = await web.visitor().ask('POST', '/oauth/register', { redirect_uris: [redirect_uri] });
  const request = {
    client_id: client.body.client_id,
    redirect_uri,
    response_type: 'code',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    scope: 'agents:read',
    approved: true,
    scopes: ['agents:read'],
  };
  assert.equal((await person.ask('POST', '/api/authorizations', request)).status, 200);
  later(16 * MINUTE);
  assert.equal((await person.ask('POST', '/api/authorizations', request)).body.code, 'CONFIRM_FIRST');
  assert.equal((await person.ask('POST', '/api/authorizations', { ...request, approved: false })).status, 200);
});

test('without a second factor the password confirms, within its bound, and keys are made as ever', async () => {
  const person = await web.signUp();
  later(16 * MINUTE);
  assert.equal((await person.ask('POST', '/api/keys', { name: 'k' })).status, 201);
  assert.equal((await person.ask('POST', '/api/settings/factors/totp', { name: 'Phone' })).status, 403);
  assert.deepEqual((await person.ask('GET', '/api/settings/factors')).body.confirmWith, ['password']);
  assert.equal((await person.ask('POST', '/api/auth/confirm', { password: 'wrong' })).status, 401);
  assert.equal((await person.ask('POST', '/api/auth/confirm', { code: '000000' })).status, 401);
  assert.equal((await person.ask('POST', '/api/auth/confirm', { password: person.password })).status, 200);
  assert.equal((await person.ask('POST', '/api/settings/factors/totp', { name: 'Phone' })).status, 200);
});

test('a secret that nobody has shown a code of is no factor, and is sealed', async () => {
  const person = await web.signUp();
  const { id, secret } = (await person.ask('POST', '/api/settings/factors/totp', { name: 'Phone' })).body;
  const wrong = await person.ask('POST', `/api/settings/factors/totp/${id}`, { code: notACode(secret) });
  assert.deepEqual([wrong.status, wrong.body], [400, { error: 'Wrong code' }]);
  const visitor = web.visitor();
  assert.equal((await visitor.ask('POST', '/api/auth/login', person)).body.ok, true);
  const row = await web.deps.db.system
    .selectFrom('second_factors')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  assert.ok(!row.secret_sealed!.includes(secretBytes(secret)) && !row.secret_sealed!.includes(secret));
  const own = web.deps.db.user(person.id).selectFrom('second_factors').select('secret_sealed').execute();
  await assert.rejects(own, /permission denied/);
});

test('an administrator removes the factors of somebody who lost them: on record, told, and by nobody else', async () => {
  const [admin, person, other] = [await web.signUpAdmin(), await careful(), await web.signUp()];
  const path = `/api/admin/users/${person.id}/factors`;
  const list = async () =>
    (await admin.ask('GET', `/api/admin/users?search=${person.email}`)).body.users[0].secondFactor;
  assert.equal(await list(), true);
  assert.equal((await other.ask('DELETE', path)).status, 403);
  const { key } = (await admin.ask('POST', '/api/keys', { name: 'k' })).body;
  assert.equal((await web.visitor().ask('DELETE', path, undefined, { authorization: `Bearer ${key}` })).status, 403);
  assert.equal((await admin.ask('DELETE', path)).status, 200);
  assert.equal((await admin.ask('DELETE', path)).status, 409);
  assert.equal((await admin.ask('DELETE', '/api/admin/users/nobody/factors')).status, 404);
  assert.equal(await list(), false);
  const [entry] = (await person.ask('GET', '/api/audit')).body.entries;
  assert.deepEqual([entry.action, entry.actorId], ['factors-reset', admin.id]);
  await web.mailTo(person.email, /An administrator removed your second factors/);
  assert.equal((await web.visitor().ask('POST', '/api/auth/login', person)).body.ok, true);
});

test('an operator lets an owner in who is locked out', async () => {
  const person = await careful();
  const { databaseUrl } = web.deps as unknown as { databaseUrl: string };
  const script = new URL('../../../../../scripts/second-step-reset.ts', import.meta.url).pathname;
  const run = (...args: string[]) =>
    new Promise<string>((resolve) => {
      const env = { ...scriptEnv(), DATABASE_URL: databaseUrl };
      execFile(process.execPath, [script, ...args], { env }, (_, stdout, stderr) => resolve(stdout + stderr));
    });
  assert.match(await run(), /Say whose/);
  assert.match(await run('nobody@example.org'), /Nobody has the address/);
  assert.match(await run(person.email), /are removed/);
  assert.match(await run(person.email), /has no second factor/);
  assert.equal((await web.visitor().ask('POST', '/api/auth/login', person)).body.ok, true);
  const [, entry] = (await person.ask('GET', '/api/audit')).body.entries;
  assert.deepEqual([entry.action, entry.detail], ['factors-reset', { by: 'second-step:reset' }]);
});
