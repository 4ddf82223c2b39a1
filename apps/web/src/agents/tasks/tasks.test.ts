import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { signedIn, testWeb, type Person, type TestWeb } from '../../testing.ts';

let web: TestWeb;
let ada: Person;
let bob: Person;
before(async () => {
  web = await testWeb();
  ada = await signedIn(web);
  bob = await signedIn(web);
  await sql`insert into agents (id, user_id, name) values ('agent-a', ${ada.id}, 'A'), ('agent-b', ${bob.id}, 'B')`.execute(
    web.deps.db.system,
  );
});
after(() => web.stop());

const send = (method: 'POST' | 'PUT' | 'DELETE', payload: object, who: Person | null = ada) =>
  web.server.app.inject({ method, url: '/api/scheduled-tasks', payload, headers: { ...who?.headers } });
const valid = { name: 'Report', cronSchedule: '0 9 * * 1', prompt: 'Write it', agentId: 'agent-a' };

test('a task is created with its next run, listed newest first, changed and deleted', async () => {
  const created = await send('POST', valid);
  assert.equal(created.statusCode, 201);
  const task = created.json();
  assert.deepEqual(
    [task.description, task.enabled, task.timezone, task.lastRun, task.agentId],
    [null, true, 'UTC', null, 'agent-a'],
  );
  const next = new Date(task.nextRun);
  assert.deepEqual([next.getUTCDay(), next.getUTCHours(), next > new Date()], [1, 9, true]);
  const second = (await send('POST', { ...valid, name: 'Second', description: 'x', enabled: false })).json();
  assert.equal(second.nextRun, null);
  const list = (
    await web.server.app.inject({ url: '/api/scheduled-tasks?agentId=agent-a', headers: ada.headers })
  ).json();
  assert.deepEqual([list.count, list.tasks.map(({ name }: { name: string }) => name)], [2, ['Second', 'Report']]);
  const changed = (
    await send('PUT', { taskId: second.id, enabled: true, cronSchedule: '*/5 * * * * *', timezone: 'Europe/Berlin' })
  ).json();
  assert.deepEqual([changed.enabled, changed.timezone, changed.name], [true, 'Europe/Berlin', 'Second']);
  assert.ok(new Date(changed.nextRun).getTime() - Date.now() <= 5000);
  assert.deepEqual((await send('DELETE', { taskId: second.id })).json(), { success: true, taskId: second.id });
  assert.equal((await send('DELETE', { taskId: second.id })).statusCode, 404);
});

test('what is missing or cannot be read is told', async () => {
  const missing = 'Missing required fields: name, cronSchedule, prompt, agentId';
  for (const field of ['name', 'cronSchedule', 'prompt', 'agentId'])
    assert.deepEqual((await send('POST', { ...valid, [field]: undefined })).json(), { error: missing }, field);
  for (const cronSchedule of ['* * * *', '* * * * * * *', '0 0 31 2 *', 'every day', '99 * * * *']) {
    const answer = await send('POST', { ...valid, cronSchedule });
    assert.deepEqual([answer.statusCode, answer.json()], [400, { error: 'Invalid cron schedule' }], cronSchedule);
  }
  assert.deepEqual((await send('POST', { ...valid, timezone: 'Mars' })).json(), { error: 'Invalid timezone' });
  assert.deepEqual((await send('PUT', {})).json(), { error: 'taskId required' });
  assert.deepEqual((await send('DELETE', {})).json(), { error: 'taskId required' });
  const { id } = (await send('POST', valid)).json();
  assert.deepEqual((await send('PUT', { taskId: id, cronSchedule: 'x' })).json(), { error: 'Invalid cron schedule' });
});

test('agents and tasks of others do not exist', async () => {
  assert.deepEqual((await send('POST', { ...valid, agentId: 'agent-b' })).json(), { error: 'Agent not found' });
  const { id } = (await send('POST', valid)).json();
  assert.equal((await send('PUT', { taskId: id, name: 'x' }, bob)).statusCode, 404);
  assert.equal((await send('DELETE', { taskId: id }, bob)).statusCode, 404);
  assert.equal(
    (await web.server.app.inject({ url: `/api/scheduled-tasks/${id}/runs`, headers: bob.headers })).statusCode,
    404,
  );
  assert.deepEqual(
    (await web.server.app.inject({ url: `/api/scheduled-tasks/${id}/runs`, headers: ada.headers })).json(),
    { runs: [], count: 0 },
  );
});

test('all of it needs a session', async () => {
  for (const method of ['POST', 'PUT', 'DELETE'] as const) assert.equal((await send(method, {}, null)).statusCode, 401);
  assert.equal((await web.server.app.inject('/api/scheduled-tasks')).statusCode, 401);
});

test('a plan has so many tasks, exactly, also at once', async () => {
  const cleo = await signedIn(web);
  await sql`insert into agents (id, user_id, name) values ('agent-c', ${cleo.id}, 'C')`.execute(web.deps.db.system);
  const make = () => send('POST', { ...valid, agentId: 'agent-c' }, cleo);
  for (let n = 0; n < 17; n += 1) assert.equal((await make()).statusCode, 201);
  const answers = await Promise.all(Array.from({ length: 6 }, make));
  assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 3);
  const refused = answers.find(({ statusCode }) => statusCode !== 201)!;
  assert.deepEqual(
    [refused.statusCode, refused.json()],
    [429, { error: 'Scheduled task limit reached (20 on your plan). Delete one first.' }],
  );
});
