import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makePasskey, ORIGIN, usePasskey, type SoftPasskey } from '@troupe/testing/identity/passkey';
import { startWeb, tokenIn, type Person, type TestWeb } from '@troupe/testing/services/web';

let web: TestWeb;
let now = Date.now();
const MINUTE = 60_000;

before(async () => {
  web = await startWeb({ clock: () => new Date(now) });
});
after(() => web.stop());

const FACTORS = '/api/settings/factors';
const STEP = '/api/auth/second-step';

async function withPasskey(): Promise<Person & { passkey: SoftPasskey; codes: string[]; factorId: string }> {
  const person = await web.signUp();
  const options = (await person.ask('POST', `${FACTORS}/passkeys/options`)).body;
  const { passkey, answer } = makePasskey(options);
  const added = await person.ask('POST', `${FACTORS}/passkeys`, { name: 'Laptop', passkey: answer });
  assert.equal(added.status, 200, JSON.stringify(added.body));
  return { ...person, passkey, codes: added.body.recoveryCodes, factorId: added.body.factor.id };
}

const halfway = async ({ email, password }: Person) => {
  const visitor = web.visitor();
  assert.equal((await visitor.ask('POST', '/api/auth/login', { email, password })).body.ok, false);
  return visitor;
};

const challenge = async () => (await web.visitor().ask('POST', '/api/auth/passkey/options')).body;
const signInWith = (passkey: unknown, visitor = web.visitor()) => visitor.ask('POST', '/api/auth/passkey', { passkey });

test('a passkey signs in alone, and a password no longer does', async () => {
  const person = await withPasskey();
  assert.equal(person.codes.length, 10);
  const visitor = web.visitor();
  const options = await challenge();
  assert.deepEqual([options.rpId, options.userVerification, options.allowCredentials], ['localhost', 'required', []]);
  const signedIn = await signInWith(usePasskey(person.passkey, options), visitor);
  assert.deepEqual([signedIn.status, signedIn.body.user?.id], [200, person.id]);
  const [entry] = (await visitor.ask('GET', '/api/audit')).body.entries;
  assert.deepEqual([entry.action, entry.detail], ['sign-in', { method: 'passkey' }]);
  const step = await halfway(person);
  assert.deepEqual((await step.ask('GET', STEP)).body.methods, ['passkey', 'recovery']);
});

test('a password that the platform made is told apart from one that somebody chose', async () => {
  const person = await web.signUp();
  const told = async () => (await person.ask('GET', FACTORS)).body.password;
  assert.equal(await told(), 'own');
  const { system } = web.deps.db;
  await system.updateTable('users').set({ password_given: true }).where('id', '=', person.id).execute();
  assert.equal(await told(), 'given');
  const body = { currentPassword: person.password, newPassword: 'another horse battery' };
  assert.equal((await person.ask('POST', '/api/settings/password', body)).status, 200);
  assert.equal(await told(), 'own');
});

test('a passkey is the second step, too', async () => {
  const person = await withPasskey();
  const step = await halfway(person);
  const options = (await step.ask('POST', `${STEP}/passkey`)).body;
  assert.deepEqual(
    options.allowCredentials.map(({ id }: { id: string }) => id),
    [person.passkey.id],
  );
  const passed = await step.ask('POST', STEP, { passkey: usePasskey(person.passkey, options) });
  assert.deepEqual([passed.status, passed.body.user?.id], [200, person.id]);
});

test('a challenge counts once, in its time, for its purpose and for whom it was made', async () => {
  const [ann, bob] = [await withPasskey(), await withPasskey()];
  const options = await challenge();
  assert.equal((await signInWith(usePasskey(ann.passkey, options))).status, 200);
  assert.equal((await signInWith(usePasskey(ann.passkey, options))).status, 401);
  const both = await challenge();
  const twice = await Promise.all([both, both].map((one) => signInWith(usePasskey(ann.passkey, one))));
  assert.equal(twice.filter(({ status }) => status === 200).length, 1);
  const old = await challenge();
  now += 6 * MINUTE;
  assert.equal((await signInWith(usePasskey(ann.passkey, old))).status, 401);

  const [annsStep, bobsStep] = [await halfway(ann), await halfway(bob)];
  const bobs = (await bobsStep.ask('POST', `${STEP}/passkey`)).body;
  // Bob's challenge, signed by Ann or by Bob, is no way through Ann's step.
  for (const passkey of [usePasskey(ann.passkey, bobs), usePasskey(bob.passkey, bobs)])
    assert.equal((await annsStep.ask('POST', STEP, { passkey })).status, 401);
  // Nor is a challenge for signing in alone, or one of another step of the same person.
  const other = (await (await halfway(ann)).ask('POST', `${STEP}/passkey`)).body;
  for (const options of [await challenge(), other])
    assert.equal((await annsStep.ask('POST', STEP, { passkey: usePasskey(ann.passkey, options) })).status, 401);
  const anns = (await (await halfway(ann)).ask('POST', `${STEP}/passkey`)).body;
  assert.equal((await signInWith(usePasskey(ann.passkey, anns))).status, 401);
  assert.equal((await bobsStep.ask('POST', STEP, { passkey: usePasskey(bob.passkey, bobs) })).status, 200);
});

test('what a browser or an authenticator did not say is refused', async () => {
  const person = await withPasskey();
  const lies = {
    'another origin': { origin: 'https://evil.example' },
    'another port': { origin: ORIGIN.replace('3000', '3001') },
    'a frame of another site': { crossOrigin: true },
    'the making of a passkey': { type: 'webauthn.create' },
    'a made-up challenge': { challenge: 'AAAA' },
    'nobody present': { flags: 4 },
    'not asked who': { flags: 1 },
    'another host': { rpId: 'evil.example' },
    "another user's handle": { userHandle: Buffer.from('somebody').toString('base64url') },
  };
  for (const [what, lie] of Object.entries(lies)) {
    const refused = await signInWith(usePasskey(person.passkey, await challenge(), lie));
    assert.deepEqual([what, refused.status, refused.body], [what, 401, { error: 'The passkey was not accepted' }]);
  }
  const other = await withPasskey();
  const stolen = { ...usePasskey(other.passkey, await challenge()), id: person.passkey.id };
  assert.equal((await signInWith(stolen)).status, 401);
  const unknown = { ...usePasskey(other.passkey, await challenge()), id: 'AAAA' };
  assert.equal((await signInWith(unknown)).status, 401);
  for (const broken of [{}, { ...stolen, response: { ...stolen.response, signature: '' } }, { ...stolen, id: '!' }])
    assert.equal((await signInWith(broken)).status, 400);
  assert.equal((await signInWith(usePasskey(person.passkey, await challenge()))).status, 200);
});

test('a copy of a passkey is noticed by its count', async () => {
  const person = await withPasskey();
  const copy = { ...person.passkey };
  for (let used = 0; used < 3; used += 1)
    assert.equal((await signInWith(usePasskey(person.passkey, await challenge()))).status, 200);
  assert.equal((await signInWith(usePasskey(copy, await challenge()))).status, 401);
});

test('a passkey is made as asked, once, and by whom it was asked of', async () => {
  const [ann, bob] = [await web.signUp(), await web.signUp()];
  const options = async (person: Person) => (await person.ask('POST', `${FACTORS}/passkeys/options`)).body;
  const add = (person: Person, passkey: unknown) => person.ask('POST', `${FACTORS}/passkeys`, { name: 'Key', passkey });
  for (const lie of [
    { origin: 'https://evil.example' },
    { flags: 0x41 },
    { flags: 5 },
    { rpId: 'evil.example' },
    { type: 'webauthn.get' },
  ])
    assert.equal((await add(ann, makePasskey(await options(ann), lie).answer)).status, 400, JSON.stringify(lie));
  assert.equal((await add(bob, makePasskey(await options(ann)).answer)).status, 400);
  const { answer } = makePasskey(await options(ann));
  const weak = { ...answer, response: { ...answer.response, publicKeyAlgorithm: -257 } };
  assert.equal((await add(ann, weak)).status, 400);
  const longer = { ...answer, id: `${answer.id}AAAA` };
  assert.equal((await add(ann, longer)).status, 400);
  assert.equal((await add(ann, answer)).status, 200);
  assert.equal((await add(ann, answer)).status, 400);
  // The same credential for another challenge and another person.
  const again = makePasskey(await options(bob));
  const copied = {
    ...again.answer,
    id: answer.id,
    response: { ...again.answer.response, authenticatorData: answer.response.authenticatorData },
  };
  assert.deepEqual((await add(bob, copied)).body, { error: 'This passkey is known already' });
  const excluded = (await options(ann)).excludeCredentials;
  assert.deepEqual(excluded, [{ type: 'public-key', id: answer.id }]);
});

test('a passkey confirms a session, and factors are listed and removed', async () => {
  const person = await withPasskey();
  now += 16 * MINUTE;
  const before = (await person.ask('GET', FACTORS)).body;
  assert.deepEqual([before.confirmedUntil, before.confirmWith], [null, ['passkey', 'recovery']]);
  assert.equal((await person.ask('DELETE', `${FACTORS}/${person.factorId}`)).status, 403);
  const options = (await person.ask('POST', '/api/auth/confirm/passkey')).body;
  const confirmed = await person.ask('POST', '/api/auth/confirm', { passkey: usePasskey(person.passkey, options) });
  assert.equal(confirmed.status, 200);
  const [factor] = (await person.ask('GET', FACTORS)).body.factors;
  assert.deepEqual([factor.kind, factor.name, factor.lastUsed !== null], ['passkey', 'Laptop', true]);
  assert.equal((await person.ask('DELETE', `${FACTORS}/${person.factorId}`)).status, 200);
  assert.equal((await person.ask('DELETE', `${FACTORS}/${person.factorId}`)).status, 404);
  assert.equal((await signInWith(usePasskey(person.passkey, await challenge()))).status, 401);
  const mail = await web.mailTo(person.email, /second factor was removed/);
  assert.match(mail, /The passkey "Laptop" was removed/);
});

test('an API key reaches none of it', async () => {
  const person = await withPasskey();
  const { key } = (await person.ask('POST', '/api/keys', { name: 'k' })).body;
  const ask = (method: string, path: string, body?: unknown) =>
    web.visitor().ask(method, path, body, { authorization: `Bearer ${key}` });
  for (const [method, path] of [
    ['GET', FACTORS],
    ['POST', `${FACTORS}/totp`],
    ['POST', `${FACTORS}/passkeys/options`],
    ['DELETE', `${FACTORS}/${person.factorId}`],
    ['POST', '/api/settings/recovery-codes'],
    ['POST', '/api/auth/confirm'],
  ] as const)
    assert.equal((await ask(method, path, method === 'GET' ? undefined : {})).status, 401, path);
});

test('the first proof of an address ends factors that were made before it', async () => {
  const strict = await startWeb({ env: { EMAIL_VERIFICATION: 'on' } });
  try {
    const squatter = await strict.signUp({ email: 'owner@example.com' });
    const refused = await squatter.ask('POST', `${FACTORS}/totp`, { name: 'Phone' });
    assert.deepEqual([refused.status, refused.body], [403, { error: 'Verify your e-mail address first' }]);
    // Proven under an address of their own, and then moved to one of somebody else's.
    const mover = await strict.signUp({ email: 'mover@example.com' });
    const own = tokenIn(await strict.mailTo('mover@example.com', /Verify your e-mail/));
    assert.equal((await mover.ask('POST', '/api/auth/verify-email', { token: own })).status, 200);
    const options = (await mover.ask('POST', `${FACTORS}/passkeys/options`)).body;
    const { passkey, answer } = makePasskey(options);
    assert.equal((await mover.ask('POST', `${FACTORS}/passkeys`, { name: 'Key', passkey: answer })).status, 200);
    assert.equal((await mover.ask('POST', '/api/settings', { email: 'victim@example.com' })).status, 200);
    await strict.visitor().ask('POST', '/api/auth/forgot-password', { email: 'victim@example.com' });
    const token = tokenIn(await strict.mailTo('victim@example.com', /Set a new password/));
    const victim = strict.visitor();
    assert.equal((await victim.ask('POST', '/api/auth/reset-password', { token, password: 'mine alone' })).status, 200);
    const signedIn = await victim.ask('POST', '/api/auth/login', {
      email: 'victim@example.com',
      password: 'mine alone',
    });
    assert.equal(signedIn.body.ok, true);
    const asked = (await strict.visitor().ask('POST', '/api/auth/passkey/options')).body;
    const back = await strict.visitor().ask('POST', '/api/auth/passkey', { passkey: usePasskey(passkey, asked) });
    assert.equal(back.status, 401);
  } finally {
    await strict.stop();
  }
});

test('passkeys need a host name', async () => {
  const bare = await startWeb({ env: { BASE_URL: 'https://203.0.113.7' } });
  try {
    assert.equal((await bare.visitor().ask('POST', '/api/auth/passkey/options')).status, 409);
  } finally {
    await bare.stop();
  }
});
