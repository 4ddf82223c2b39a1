import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createAccounts } from '@troupe/accounts';
import { type Runtime } from '@troupe/db';
import { testRuntime } from '@troupe/testing/database/runtime';
import { memoryCounters } from '@troupe/kernel';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { quickPasswords } from '@troupe/testing/services/passwords';
import { startWeb } from '@troupe/testing/services/web';
import { createAttempts } from '../attempts.ts';
import { createFailedSignIns } from '../failed-sign-ins.ts';
import { createGuesses } from '../guesses.ts';
import { createKnownDevices } from '../known-devices.ts';
import { createSessionService } from './service.ts';

let runtime: Runtime;
before(async () => {
  runtime = await testRuntime();
});
after(() => runtime.close());

const origin = { ip: '10.0.0.1', userAgent: undefined };

/** The service over passwords that are watched; `during` runs while one is verified, and knows what comes of it. */
function watched(
  during: (matches: boolean) => Promise<void> = async () => {},
  counters = runtime.counters,
  clock = runtime.clock,
) {
  const real = quickPasswords();
  const verified: (string | null)[] = [];
  const accounts = createAccounts({
    ...runtime,
    url: 'http://127.0.0.1:3000',
    passwords: {
      hash: real.hash,
      async verify(stored, password, by) {
        verified.push(stored);
        const matches = await real.verify(stored, password, by);
        await during(matches);
        return matches;
      },
    },
  });
  const { secrets } = runtime;
  const asked: string[] = [];
  const db = Object.defineProperties(
    { ...runtime.db },
    {
      system: { get: () => (asked.push('query'), runtime.db.system) },
      asSystem: {
        value: (...given: Parameters<typeof runtime.db.asSystem>) => (
          asked.push('transaction'),
          runtime.db.asSystem(...given)
        ),
      },
    },
  );
  const service = createSessionService({
    db,
    accounts,
    attempts: createAttempts(counters),
    guesses: createGuesses({ db, clock }),
    devices: createKnownDevices({ sessionSecret: secrets.sessionSecret, clock, secure: false }),
    failedSignIns: createFailedSignIns({ db, counters, audit: accounts.audit }),
    clock,
    sessionSecret: secrets.sessionSecret,
  });
  return { accounts, service, verified, asked };
}

async function person(email: string) {
  const { accounts } = watched();
  const passwordHash = await accounts.passwords.hash('correct horse', 'test');
  const row = await runtime.db.asSystem((tx) => accounts.users.create(tx, { email, passwordHash }));
  assert.ok(row);
  return { ...row, passwordHash };
}

test('somebody, nobody and nonsense cost one verification each', async () => {
  const ada = await person('ada@example.com');
  const { service, verified } = watched();
  for (const email of [ada.email, 'nobody@example.com', 'nonsense'])
    await assert.rejects(service.login({ email, password: 'wrong' }, origin), { message: 'Invalid email or password' });
  assert.deepEqual(verified, [ada.passwordHash, null, null]);
});

test('a wrong password asks the database as often as an address that nobody has', async () => {
  const una = await person('una@example.com');
  const { service, asked } = watched();
  for (const email of [una.email, 'nobody@example.com'])
    await assert.rejects(service.login({ email, password: 'wrong' }, origin), { status: 401 });
  // Who it is, how many were wrong, one more of them, what is over; and the record.
  const once = ['query', 'query', 'query', 'query', 'transaction'];
  assert.deepEqual(asked, [...once, ...once]);
});

test('made-up addresses leave a hundred entries an hour for one IP; what is about an account is always kept', async () => {
  const { audit } = watched().accounts;
  const failedSignIns = createFailedSignIns({ ...runtime, counters: memoryCounters(() => new Date(0)), audit });
  const one = { method: 'password', ip: '10.9.9.9' } as const;
  for (let guess = 0; guess < 103; guess += 1)
    await failedSignIns({ ...one, userId: null, email: `${guess}@example.com` });
  await failedSignIns({ ...one, userId: 'somebody' });
  await failedSignIns({ ...one, userId: null, ip: '10.9.9.10' });
  const rows = await runtime.db.system
    .selectFrom('audit_log')
    .select(['user_id', 'ip'])
    .where('ip', 'in', ['10.9.9.9', '10.9.9.10'])
    .execute();
  const count = (id: string | null, ip: string) => rows.filter((row) => row.user_id === id && row.ip === ip).length;
  assert.deepEqual([count(null, '10.9.9.9'), count('somebody', '10.9.9.9'), count(null, '10.9.9.10')], [100, 1, 1]);
});

test('a password that is reset while it is being checked opens nothing', async () => {
  const bob = await person('bob@example.com');
  const { service } = watched(async () => {
    await runtime.db.system.updateTable('users').set({ password_hash: 'other' }).where('id', '=', bob.id).execute();
  });
  const login = service.login({ email: bob.email, password: 'correct horse' }, origin);
  await assert.rejects(login, { message: 'Invalid email or password' });
  const sessions = await runtime.db.system.selectFrom('sessions').select('id').where('user_id', '=', bob.id).execute();
  assert.deepEqual(sessions, []);
});

test('many guesses at once are five guesses', async () => {
  const eve = await person('eve@example.com');
  const wrong: Promise<number>[] = [];
  // Whoever is right before the fifth failure gets in: this one is not.
  const { service } = watched(async (matches) => {
    if (matches) await Promise.all(wrong);
  });
  const guess = (password: string) =>
    service.login({ email: eve.email, password }, origin).then(
      () => 200,
      (error: { status: number }) => error.status,
    );
  wrong.push(...Array.from({ length: 12 }, () => guess('wrong')));
  assert.equal(await guess('correct horse'), 429);
  assert.equal((await Promise.all(wrong)).filter((status) => status === 401).length, 5);
});

test('a success forgets earlier failures; the window ends after 15 minutes', async () => {
  const kim = await person('kim@example.com');
  let now = 0;
  const { service } = watched(
    undefined,
    memoryCounters(() => new Date(now)),
  );
  const login = (password: string) => service.login({ email: kim.email, password }, origin);
  for (let round = 0; round < 2; round += 1) {
    for (let tries = 0; tries < 4; tries += 1) await assert.rejects(login('wrong'), { status: 401 });
    assert.equal((await login('correct horse')).user.id, kim.id);
  }
  for (let tries = 0; tries < 5; tries += 1) await assert.rejects(login('wrong'), { status: 401 });
  now = 15 * 60_000 - 1;
  await assert.rejects(login('correct horse'), { status: 429 });
  now = 15 * 60_000;
  assert.equal((await login('correct horse')).user.id, kim.id);
});

describe('wrong passwords from many addresses', () => {
  let addresses = 0;
  const elsewhere = () => ({ ip: `10.2.${(addresses += 1) >> 8}.${addresses & 255}`, userAgent: undefined });
  /** Of a process of its own: what it counts in memory, no other knows. */
  const process = (clock = runtime.clock) => watched(undefined, memoryCounters(clock), clock).service;
  const refused = (email: string, password: string, service = process(), token?: string) =>
    service.login({ email, password }, elsewhere(), token).then(
      () => null,
      ({ status, headers }: { status: number; headers?: Record<string, string> }) => ({ status, headers }),
    );

  test('are twenty an hour for one account, in all processes together, the right one included', async () => {
    const lea = await person('lea@example.com');
    const [one, other] = [process(), process()];
    for (let tries = 0; tries < 20; tries += 1)
      assert.equal((await refused(lea.email, 'wrong', tries % 2 === 0 ? one : other))?.status, 401);
    for (const password of ['wrong', 'correct horse']) {
      const refusal = await refused(lea.email.toUpperCase(), password, other);
      assert.equal(refusal?.status, 429);
      assert.match(refusal.headers?.['retry-after'] ?? '', /^3[56]\d\d$/);
    }
    const later = () => new Date(Date.now() + 3_600_000);
    assert.equal(await refused(lea.email, 'correct horse', process(later)), null);
  });

  test('are not told apart from those for an address that nobody has', async () => {
    const statuses: (number | undefined)[] = [];
    for (let tries = 0; tries < 21; tries += 1)
      statuses.push((await refused('nobody-at-all@example.com', 'x'))?.status);
    assert.deepEqual(statuses, [...Array.from({ length: 20 }, () => 401), 429]);
  });

  test('that come together are twenty as well', async () => {
    const max = await person('max@example.com');
    const answers = await Promise.all([
      ...Array.from({ length: 40 }, () => refused(max.email, 'wrong')),
      refused(max.email, 'correct horse'),
    ]);
    assert.equal(answers.filter((refusal) => refusal?.status === 401).length, 20);
    assert.equal((await refused(max.email, 'correct horse'))?.status, 429);
  });

  test('keep nobody out where they have signed in before, and only there', async () => {
    const [ned, oda] = [await person('ned@example.com'), await person('oda@example.com')];
    const service = process();
    const { device } = await service.login({ email: ned.email, password: 'correct horse' }, elsewhere());
    const { device: hers } = await service.login({ email: oda.email, password: 'correct horse' }, elsewhere());
    for (let tries = 0; tries < 20; tries += 1) await refused(ned.email, 'wrong', service);
    assert.equal(await refused(ned.email, 'correct horse', service, device.value), null);
    const forged = [undefined, '', hers.value, String(device.value).replace(/.$/, (end) => (end === '0' ? '1' : '0'))];
    for (const token of forged) assert.equal((await refused(ned.email, 'correct horse', service, token))?.status, 429);
    const late = process(() => new Date(Date.now() + 181 * 86_400_000));
    for (let tries = 0; tries < 20; tries += 1) await refused(ned.email, 'wrong', late);
    assert.equal((await refused(ned.email, 'correct horse', late, device.value))?.status, 429);
  });

  test('whoever has a known device guesses five times with it', async () => {
    const pam = await person('pam@example.com');
    const service = process();
    const { device } = await service.login({ email: pam.email, password: 'correct horse' }, elsewhere());
    const statuses: (number | undefined)[] = [];
    for (let tries = 0; tries < 6; tries += 1)
      statuses.push((await refused(pam.email, 'wrong', service, device.value))?.status);
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429]);
    assert.equal(await refused(pam.email, 'correct horse', service), null, 'they count for the device alone');
  });

  test('a device is known by the password that it knew', async () => {
    const quy = await person('quy@example.com');
    const service = process();
    const { device } = await service.login({ email: quy.email, password: 'correct horse' }, elsewhere());
    const hash = await watched().accounts.passwords.hash('another horse', 'test');
    await runtime.db.system.updateTable('users').set({ password_hash: hash }).where('id', '=', quy.id).execute();
    for (let tries = 0; tries < 20; tries += 1) await refused(quy.email, 'wrong', service);
    assert.equal((await refused(quy.email, 'another horse', service, device.value))?.status, 429);
  });
});

test('a flood of logins of one address keeps nobody else waiting, and is told to come back', async (t) => {
  const web = await startWeb();
  t.after(() => web.stop());
  const ada = await web.signUp();
  const flood = Array.from({ length: 150 }, (_, guess) =>
    web.visitor().ask('POST', '/api/auth/login', { email: `${guess}@example.com`, password: 'x' }),
  );
  for (let asked = 0; asked < 5; asked += 1) {
    assert.equal((await ada.ask('GET', '/api/keys')).status, 200);
    // From another address, as the internal key may say.
    const elsewhere = { authorization: `Bearer ${TEST_SECRETS.internalKey}`, 'x-client-ip': `10.0.1.${asked}` };
    const began = performance.now();
    assert.equal((await web.visitor().ask('POST', '/api/auth/login', ada, elsewhere)).status, 200);
    assert.ok(performance.now() - began < 2_000, 'somebody else waited for the flood');
  }
  const replies = await Promise.all(flood);
  const late = replies.filter(({ status }) => status === 429);
  // 60 a minute, of which one was the sign-in above, two run at once and 20 wait.
  assert.ok(late.length >= 91, `${late.length} were refused`);
  for (const { headers } of late) assert.match(headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal(replies.filter(({ status }) => status === 401).length + late.length, 150);
});
