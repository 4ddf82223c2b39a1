import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { planEndsJob } from '@troupe/contract';
import { allJobsRan } from '@troupe/testing/database/jobs';
import { startWeb, type Person, type TestWeb } from '@troupe/testing/services/web';

const DAY = 86_400_000;
let web: TestWeb;
let admin: Person;
before(async () => {
  web = await startWeb();
  admin = await web.signUpAdmin();
});
after(() => web.stop());

const rule = (mode: string, plan: string | null = null, days: number | null = null) =>
  admin.ask('PUT', '/api/admin/joining', { mode, plan, days });
const register = async (given: object = {}) => {
  const email = `${Math.random()}@example.com`;
  const { status, body } = await web
    .visitor()
    .ask('POST', '/api/register', { email, password: 'correct horse', ...given });
  return [status, body.error];
};
const invitation = async (by: Person): Promise<string> =>
  (await by.ask('POST', '/api/invite', { name: 'Guest' })).body.token;
const access = async (person: Person) => (await person.ask('GET', '/api/access')).body;

test('at first anybody may come, and begins with nothing', async () => {
  assert.deepEqual((await admin.ask('GET', '/api/admin/joining')).body, { mode: 'open', plan: null, days: null });
  assert.deepEqual((await web.visitor().ask('GET', '/api/joining')).body, { mode: 'open' });
  const { state, plan, endsAt } = await access(await web.signUp());
  assert.deepEqual([state, plan, endsAt], ['none', null, null]);
});

test('where it takes an invitation or is closed, who has none is told so, and those who are here come in', async () => {
  const token = await invitation(admin);
  const member = await web.signUp();
  assert.equal((await rule('invite')).status, 200);
  assert.deepEqual((await web.visitor().ask('GET', '/api/joining')).body, { mode: 'invite' });
  assert.deepEqual(await register(), [403, 'New accounts need an invitation']);
  // Whether an address is known here is not told either.
  assert.deepEqual(await register({ email: member.email }), [403, 'New accounts need an invitation']);
  assert.deepEqual(await register({ inviteToken: 'f'.repeat(64) }), [404, 'Invalid or expired invite']);
  assert.deepEqual(await register({ inviteToken: token }), [200, undefined]);
  await rule('closed');
  const other = await invitation(admin);
  assert.deepEqual(await register({ inviteToken: other }), [403, 'No new accounts are made here']);
  assert.equal((await web.visitor().ask('POST', '/api/auth/login', member)).status, 200);
  await rule('open');
});

test('a plan for some days begins with the account, and ends with them unless it was changed', async () => {
  await rule('open', 'collective', 7);
  const [ann, bob] = [await web.signUp(), await web.signUp()];
  const begun = await access(ann);
  assert.deepEqual([begun.state, begun.plan], ['member', 'collective']);
  assert.ok(Math.abs(Date.parse(begun.endsAt) - Date.now() - 7 * DAY) < 60_000);
  await admin.ask('PATCH', `/api/admin/users/${bob.id}`, { plan: 'network' });
  assert.equal((await access(bob)).endsAt, null);

  const { db, jobs } = web.deps;
  const over = async (person: Person): Promise<void> => {
    await jobs.send(db.system, planEndsJob, { userId: person.id });
    await allJobsRan(jobs);
  };
  // Not yet.
  await over(ann);
  assert.equal((await access(ann)).state, 'member');
  await db.system
    .updateTable('users')
    .set({ plan_ends_at: new Date(Date.now() - 1000) })
    .where('id', '=', ann.id)
    .execute();
  await over(ann);
  await over(bob);
  assert.deepEqual([(await access(ann)).state, (await access(bob)).state], ['none', 'member']);
  await web.mailTo(ann.email, /Your plan has ended/);
  const entry = (await ann.ask('GET', '/api/audit')).body.entries.find(
    ({ action }: { action: string }) => action === 'plan-change',
  );
  assert.equal(entry.detail.reason, 'days over');
  await rule('open');
});

test('an invitation of an administrator brings more than the beginning', async () => {
  await rule('invite', 'network', 3);
  const guest = await web.signUp({ inviteToken: await invitation(admin) });
  const { plan, endsAt } = await access(guest);
  assert.deepEqual([plan, endsAt], ['solo', null]);
  const friend = await web.signUp({ inviteToken: await invitation(guest) });
  assert.equal((await access(friend)).plan, 'network');
  await rule('open');
});

test('nobody but an administrator sees or says it, and nonsense is refused', async () => {
  const eve = await web.signUp();
  assert.equal((await eve.ask('GET', '/api/admin/joining')).status, 403);
  const refused = await eve.ask('PUT', '/api/admin/joining', { mode: 'closed', plan: null, days: null });
  assert.equal(refused.status, 403);
  for (const [body, error] of [
    [{ mode: 'some', plan: null, days: null }, 'mode must be one of open, invite, closed'],
    [{ mode: 'open', plan: null, days: 3 }, 'days need a plan'],
    [{ mode: 'open', plan: 'solo', days: 0 }, 'days must be a whole number from 1 to 365, or null'],
  ] as const)
    assert.deepEqual((await admin.ask('PUT', '/api/admin/joining', body)).body.error, error);
  assert.equal((await admin.ask('GET', '/api/admin/joining')).body.mode, 'open');
});
