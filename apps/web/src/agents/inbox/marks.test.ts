import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { raiseNotice } from '@troupe/accounts';
import { sql } from 'kysely';
import pg from 'pg';
import { person, provisioned, send, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** Later, done and undo: kept for the person, and nothing is decided by them. */

let services: Services;
let ann: Person;
let ben: Person;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'solo' });
  ben = await person(services, { plan: 'solo' });
});
after(() => services.stop());

const marks = async (who: Person): Promise<Body[]> => (await who.ask('GET', '/api/inbox')).body.marks;
const put = (who: Person, item: string, body: object) => who.ask('PUT', `/api/inbox/marks/${item}`, body);
const undo = (who: Person, item: string) => who.ask('DELETE', `/api/inbox/marks/${item}`);
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

test('what is put off says until when, the newest first, and is undone once', async () => {
  const until = inHours(1);
  const { status, body } = await put(ann, 'call-1', { state: 'later', until, words: 'Ada: write plan.md' });
  const { markedAt, ...rest } = body;
  assert.equal(status, 200, JSON.stringify(body));
  assert.ok(Date.parse(markedAt) <= Date.now());
  assert.deepEqual(rest, { item: 'call-1', state: 'later', until, words: 'Ada: write plan.md', taskId: null });
  assert.equal((await put(ann, 'call-2', { state: 'done' })).status, 200);
  assert.deepEqual(
    (await marks(ann)).map(({ item, state }) => [item, state]),
    [
      ['call-2', 'done'],
      ['call-1', 'later'],
    ],
  );
  assert.deepEqual(await marks(ben), []);
  assert.deepEqual(await undo(ben, 'call-1'), { status: 404, body: { error: 'Nothing to undo' } });
  const both = await Promise.all([undo(ann, 'call-1'), undo(ann, 'call-1')]);
  assert.deepEqual(
    both.map((one) => one.status).toSorted((a, b) => a - b),
    [200, 404],
  );
  // Marked again it is what was said last.
  await put(ann, 'call-2', { state: 'later', until });
  const [{ state }, ...others] = (await marks(ann)) as [Body];
  assert.deepEqual([state, others], ['later', []]);
});

test('refuses a time that is none, past or far, and anything that is no item', async () => {
  const error = 'until must be a time within a year from now, and only of what is put off';
  for (const body of [
    { state: 'later' },
    { state: 'later', until: inHours(-1) },
    { state: 'later', until: inHours(24 * 400) },
    { state: 'later', until: 'tomorrow' },
    { state: 'done', until: inHours(1) },
  ])
    assert.deepEqual(await put(ann, 'call-3', body), { status: 400, body: { error } }, JSON.stringify(body));
  assert.equal((await put(ann, 'call-3', { state: 'allowed' })).body.error, 'state must be later, done or decided');
  assert.equal((await put(ann, 'call-3', { state: 'done', words: 'x'.repeat(301) })).status, 400);
  assert.equal((await put(ann, 'a%20b', { state: 'done' })).status, 400);
  assert.equal((await send(`${services.web}/api/inbox/marks/call-3`, 'PUT', { state: 'done' })).status, 401);
});

test('what was decided cannot be undone, but for a task that was switched off', async () => {
  await put(ann, 'call-4', { state: 'decided', words: 'Allowed. Ada: write plan.md' });
  assert.deepEqual(await undo(ann, 'call-4'), {
    status: 409,
    body: { error: 'What was decided has happened: it cannot be undone' },
  });
  const agentId = await provisioned(ann);
  const task = { name: 'Morning', cronSchedule: '0 8 * * *', prompt: 'Say hello', agentId, enabled: false };
  const { id: taskId } = (await ann.ask('POST', '/api/scheduled-tasks', task)).body;
  await put(ann, 'call-5', { state: 'decided', words: 'Switched off', taskId });
  // Somebody else's, or none at all, is no task that could be switched on again, and no mark is left of it.
  for (const other of [taskId, 'nowhere'])
    assert.deepEqual(await put(ben, 'call-5', { state: 'decided', words: 'Switched off', taskId: other }), {
      status: 404,
      body: { error: 'Task not found' },
    });
  assert.equal((await undo(ben, 'call-5')).status, 404);
  const isOn = async () => (await ann.ask('GET', '/api/scheduled-tasks')).body.tasks[0].enabled;
  assert.equal(await isOn(), false);
  assert.equal((await undo(ann, 'call-5')).status, 200);
  assert.equal(await isOn(), true);
});

test('a notice that is done with is read, and unread again when that is undone', async () => {
  const raise = () =>
    services.runtime.db.asSystem((tx) =>
      raiseNotice(
        tx,
        {
          userId: ann.id,
          kind: 'agent_failed',
          subject: 'a1',
          message: 'Ada is in trouble',
          link: '/dashboard/agents/a1',
        },
        new Date(),
      ),
    );
  const notices = async (): Promise<Body[]> => (await ann.ask('GET', '/api/notices')).body.notices;
  const unread = async () => (await notices()).filter(({ readAt }) => readAt === null).length;
  assert.equal(await raise(), true);
  const [{ id }] = (await notices()) as [Body];
  await put(ann, `notice-${id}`, { state: 'later', until: inHours(1) });
  assert.equal(await unread(), 1);
  await put(ann, `notice-${id}`, { state: 'done' });
  assert.equal(await unread(), 0);
  await undo(ann, `notice-${id}`);
  assert.equal(await unread(), 1);
  await put(ann, `notice-${id}`, { state: 'done' });
  // The same trouble anew is told, and stands for the old one.
  assert.equal(await raise(), true);
  assert.equal((await undo(ann, `notice-${id}`)).status, 200);
  assert.equal(await unread(), 1);
});

test('two notices of the same trouble, undone at once: both are undone, and one of them is to be read', async () => {
  const { db } = services.runtime;
  const about = { userId: ben.id, kind: 'agent_failed', subject: 'b1', message: 'Bo is in trouble' } as const;
  for (let n = 0; n < 2; n += 1) {
    await db.asSystem((tx) => raiseNotice(tx, about, new Date()));
    const { notices } = (await ben.ask('GET', '/api/notices')).body;
    await put(ben, `notice-${notices[0].id}`, { state: 'done' });
  }
  const both = (await marks(ben)).map(({ item }) => String(item)).filter((item) => item.startsWith('notice-'));
  assert.equal(both.length, 2);
  const answers = await db.asSystem(async (tx) => {
    // Both have looked whether the same is to be read, and wait here.
    await sql`select from notices where user_id = ${ben.id} for update`.execute(tx);
    const asked = both.map((item) => undo(ben, item));
    await waiting(2);
    return asked;
  });
  assert.deepEqual(
    (await Promise.all(answers)).map(({ status, body }) => [status, body]),
    [200, 200].map((status) => [status, { success: true }]),
  );
  const { notices } = (await ben.ask('GET', '/api/notices')).body;
  assert.equal(notices.filter(({ readAt }: Body) => readAt === null).length, 1);
});

/** Until so many wait for a row that somebody holds. */
async function waiting(count: number): Promise<void> {
  const look = new pg.Client({ connectionString: services.runtime.databaseUrl });
  await look.connect();
  const blocked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await look.query(blocked)).rowCount !== count) await delay(10);
  await look.end();
}

test('the same things marked in another order at once are marked', async () => {
  const items = Array.from({ length: 40 }, (_, n) => ({ item: `many-${n}`, words: '' }));
  const orders = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? items : items.toReversed()));
  const answers = await Promise.all(
    orders.map((given) => ann.ask('PUT', '/api/inbox/marks', { items: given, state: 'done' })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    orders.map(() => 200),
  );
});

test('the newest 500 are kept', async () => {
  await services.runtime.db.asSystem((tx) =>
    tx
      .insertInto('inbox_marks')
      .values(
        Array.from({ length: 510 }, (_, n) => ({
          user_id: ben.id,
          item: `old-${n}`,
          state: 'done' as const,
          words: '',
          marked_at: new Date(n * 1000),
        })),
      )
      .execute(),
  );
  await put(ben, 'newest', { state: 'done' });
  const kept = await marks(ben);
  assert.deepEqual([kept.length, kept[0]!.item, kept.at(-1)!.item], [500, 'newest', 'old-11']);
});
