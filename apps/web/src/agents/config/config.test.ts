import { applyConfigJob } from '@troupe/contract';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { signedIn, testWeb, type Person, type TestWeb } from '../../testing.ts';

let web: TestWeb;
let ada: Person;
let bob: Person;
before(async () => {
  web = await testWeb();
  await web.deps.jobs.start();
  ada = await signedIn(web);
  bob = await signedIn(web);
});
after(() => web.stop());

const ask = (who: Person | null, method: 'GET' | 'POST' | 'PUT', payload?: unknown, url = '/api/config') =>
  web.server.app.inject({
    method,
    url,
    headers: { ...who?.headers, ...(payload === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(payload === undefined ? {} : { payload: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
  });

test('the default configuration is there before anybody saved one', async () => {
  const { config, backups } = (await ask(ada, 'GET')).json();
  assert.equal(config.version, '1.0');
  assert.deepEqual(config.memory, { maxEntries: 1000, ttlDays: 90 });
  assert.deepEqual(config.cron, { heartbeatIntervalMinutes: 180 });
  assert.deepEqual(config.safety, { maxTokensPerDay: 1_000_000, allowedDomains: [] });
  assert.deepEqual(backups, []);
});

test('saving backs up what was there, restoring backs up first, unknown keys are kept', async () => {
  const carl = await signedIn(web);
  const saved = (
    await ask(carl, 'POST', { config: { memory: { maxEntries: 5, extra: 'kept' }, mine: { a: 1 } } })
  ).json();
  assert.equal(saved.success, true);
  assert.match(saved.backupId, /^bkp_/);
  assert.deepEqual(saved.config.memory, { maxEntries: 5, ttlDays: 90, extra: 'kept' });
  assert.deepEqual(saved.config.mine, { a: 1 });
  const restored = (await ask(carl, 'PUT', { backupId: saved.backupId })).json();
  assert.equal(restored.restoredFrom, saved.backupId);
  assert.equal(restored.config.memory.maxEntries, 1000);
  assert.equal(restored.backups.length, 2);
  assert.deepEqual((await ask(carl, 'GET')).json().config, restored.config);
  const newest = await ask(carl, 'GET', undefined, `/api/config/backups/${restored.backups[0].id}`);
  assert.deepEqual(newest.json().config.mine, { a: 1 });
});

test('the last ten backups are kept, and the oldest can still be restored', async () => {
  const dora = await signedIn(web);
  for (let n = 1; n <= 12; n += 1) await ask(dora, 'POST', { config: { memory: { maxEntries: n } } });
  const { backups } = (await ask(dora, 'GET')).json();
  assert.equal(backups.length, 10);
  const restored = (await ask(dora, 'PUT', { backupId: backups[9].id })).json();
  assert.equal(restored.config.memory.maxEntries, 2);
  assert.equal(restored.backups.length, 10);
});

test('two who save at once both leave a backup', async () => {
  const eve = await signedIn(web);
  await Promise.all([1, 2, 3, 4].map((n) => ask(eve, 'POST', { config: { memory: { maxEntries: n } } })));
  assert.equal((await ask(eve, 'GET')).json().backups.length, 4);
});

test('bad input is told, and nothing changes', async () => {
  const before = (await ask(ada, 'GET')).json();
  const deep = `{"config":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`;
  const cases: [unknown, 'POST' | 'PUT', RegExp | string][] = [
    ['{', 'POST', 'Invalid request body'],
    ['[]', 'POST', 'Invalid request body'],
    ['{"config":{"__proto__":{"admin":true}}}', 'POST', 'Invalid request body'],
    [{}, 'POST', 'Invalid config object'],
    [{ config: [] }, 'POST', 'Invalid config object'],
    [{ config: 5 }, 'POST', 'Invalid config object'],
    [{ config: null }, 'POST', 'Invalid config object'],
    [{ config: '{"a":' }, 'POST', 'Config is not valid JSON'],
    [{ config: { memory: { maxEntries: 'many' } } }, 'POST', /^Invalid config object: memory\.maxEntries /],
    [deep, 'POST', /nested deeper than/],
    [{}, 'PUT', 'Missing backupId'],
    ['nonsense', 'PUT', 'Invalid request body'],
  ];
  for (const [payload, method, expected] of cases) {
    const answer = await ask(ada, method, payload);
    assert.equal(answer.statusCode, 400, String(expected));
    if (typeof expected === 'string') assert.equal(answer.json().error, expected);
    else assert.match(answer.json().error, expected);
  }
  assert.deepEqual((await ask(ada, 'GET')).json(), before);
});

test('a configuration of 900 KB is kept whole', async () => {
  const notes = 'x'.repeat(900 * 1024);
  const frank = await signedIn(web);
  assert.equal((await ask(frank, 'POST', { config: { notes } })).statusCode, 200);
  assert.equal((await ask(frank, 'GET')).json().config.notes.length, notes.length);
});

test('another user’s backup does not exist', async () => {
  const { backupId } = (await ask(bob, 'POST', { config: {} })).json();
  for (const answer of [
    await ask(ada, 'PUT', { backupId }),
    await ask(ada, 'GET', undefined, `/api/config/backups/${backupId}`),
  ])
    assert.deepEqual([answer.statusCode, answer.json()], [404, { error: 'Backup not found' }]);
});

test('without a session it is the installation’s own on loopback, and 401 elsewhere', async () => {
  assert.equal((await ask(null, 'POST', { config: { mine: 'installation' } })).statusCode, 200);
  assert.equal((await ask(null, 'GET')).json().config.mine, 'installation');
  assert.equal((await ask(ada, 'GET')).json().config.mine, undefined);
  const open = await testWeb({ env: { BASE_URL: 'https://troupe.example' } });
  assert.equal((await open.server.app.inject('/api/config')).statusCode, 401);
  assert.equal((await open.server.app.inject('/api/devices')).statusCode, 401);
  await open.stop();
});

test('the owner’s agents are told, with the change', async () => {
  const told: string[] = [];
  const heard = Promise.withResolvers<void>();
  const other = await testWeb();
  other.deps.jobs.work(applyConfigJob, async ({ owner }) => {
    told.push(owner);
    heard.resolve();
  });
  await other.deps.jobs.start();
  const gina = await signedIn(other);
  await other.server.app.inject({ method: 'POST', url: '/api/config', headers: gina.headers, payload: { config: {} } });
  await heard.promise;
  assert.deepEqual(told, [gina.id]);
  await other.stop();
});
