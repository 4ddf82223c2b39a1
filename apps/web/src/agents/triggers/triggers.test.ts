import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '@troupe/kernel';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
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

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
const ask = (method: Method, url: string, payload?: object, who: Person | null = ada) =>
  web.server.app.inject({ method, url, ...(payload && { payload }), headers: { ...who?.headers } });

const TASKS = '/api/scheduled-tasks';
async function newTask(who = ada, agentId = 'agent-a'): Promise<string> {
  const made = await ask('POST', TASKS, { name: 'T', cronSchedule: '@triggered', prompt: 'Do it', agentId }, who);
  assert.equal(made.statusCode, 201, made.body);
  assert.equal(made.json().nextRun, null);
  return made.json().id;
}

async function newHook(taskId: string) {
  const made = await ask('POST', `${TASKS}/${taskId}/triggers`, { kind: 'webhook' });
  assert.equal(made.statusCode, 201, made.body);
  const { trigger, secret } = made.json() as { trigger: { id: string; address: string }; secret: string };
  assert.ok(trigger.address.endsWith(`/api/hooks/${trigger.id}`));
  return { taskId, id: trigger.id, path: `/api/hooks/${trigger.id}`, secret };
}

const post = (path: string, payload: string, headers: Record<string, string>) =>
  web.server.app.inject({
    method: 'POST',
    url: path,
    payload,
    headers: { 'content-type': 'application/json', ...headers },
  });

function signed(secret: string, body: string, { id = newId(), at = new Date() } = {}) {
  const signature = new Webhook(secret).sign(id, at, body);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
  };
}

const runsOf = (taskId: string) =>
  web.deps.db.system.selectFrom('task_runs').selectAll().where('task_id', '=', taskId).execute();

test('a signed delivery is taken at once, and the same one twice runs once', async () => {
  const hook = await newHook(await newTask());
  const body = JSON.stringify({ order: 7 });
  const headers = signed(hook.secret, body);
  const first = await post(hook.path, body, headers);
  assert.equal(first.statusCode, 202, first.body);
  const { receiptId, duplicate, taskId } = first.json();
  assert.deepEqual([duplicate, taskId], [false, hook.taskId]);
  const again = await post(hook.path, body, headers);
  assert.deepEqual([again.statusCode, again.json()], [202, { receiptId, duplicate: true, taskId }]);
  const runs = await runsOf(hook.taskId);
  assert.deepEqual(
    runs.map(({ id, status, source, trigger_id, input }) => [id, status, source, trigger_id, input]),
    [[receiptId, 'waiting', 'webhook', hook.id, body]],
  );
  const shown = await ask('GET', `${TASKS}/${taskId}/runs/${receiptId}`);
  assert.deepEqual([shown.json().status, shown.json().input], ['waiting', body]);
});

test('twenty at once under one id are one', async () => {
  const hook = await newHook(await newTask());
  const headers = signed(hook.secret, 'x');
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(hook.path, 'x', headers)));
  assert.ok(answers.every(({ statusCode }) => statusCode === 202));
  assert.equal(new Set(answers.map((answer) => answer.json().receiptId)).size, 1);
  assert.equal((await runsOf(hook.taskId)).length, 1);
});

test('a bearer secret will do for who cannot sign; with an id it counts once, too', async () => {
  const hook = await newHook(await newTask());
  const bearer = { authorization: `Bearer ${hook.secret}` };
  assert.equal((await post(hook.path, 'plain\0text', bearer)).statusCode, 202);
  for (let n = 0; n < 2; n += 1)
    assert.equal((await post(hook.path, 'x', { ...bearer, 'idempotency-key': 'one' })).statusCode, 202);
  assert.deepEqual(new Set((await runsOf(hook.taskId)).map(({ input }) => input)), new Set(['plaintext', 'x']));
  const long = await post(hook.path, 'x', { ...bearer, 'idempotency-key': 'x'.repeat(201) });
  assert.deepEqual([long.statusCode, long.json()], [400, { error: 'webhook-id must have 1 to 200 characters' }]);
});

test('nothing else gets in: forged, changed, old, early, for another trigger, none at all', async () => {
  const hook = await newHook(await newTask());
  const other = await newHook(await newTask());
  const good = signed(hook.secret, 'body');
  const { 'webhook-id': _, ...withoutId } = good;
  const tries: [string, Record<string, string>][] = [
    ['body', signed(other.secret, 'body')],
    ['changed', good],
    ['body', { ...good, 'webhook-id': newId() }],
    ['body', withoutId],
    ['body', signed(hook.secret, 'body', { at: new Date(Date.now() - 301_000) })],
    ['body', signed(hook.secret, 'body', { at: new Date(Date.now() + 330_000) })],
    ['body', { ...good, 'webhook-timestamp': 'now' }],
    ['body', { ...good, 'webhook-signature': 'v1,' }],
    ['body', { authorization: `Bearer ${other.secret}` }],
    ['body', { authorization: 'Bearer ' }],
    // A wrong signature is not saved by the right bearer.
    ['body', { ...signed(other.secret, 'body'), authorization: `Bearer ${hook.secret}` }],
    ['body', {}],
  ];
  for (const [body, headers] of tries) {
    const answer = await post(hook.path, body, headers);
    assert.deepEqual(
      [answer.statusCode, answer.json()],
      [401, { error: 'Invalid signature' }],
      JSON.stringify(headers),
    );
  }
  assert.equal((await runsOf(hook.taskId)).length, 0);
  assert.equal((await post('/api/hooks/nobody', 'x', good)).statusCode, 404);
});

test('a body has 64 KB at most', async () => {
  const hook = await newHook(await newTask());
  const bearer = { authorization: `Bearer ${hook.secret}` };
  assert.equal((await post(hook.path, 'x'.repeat(65_536), bearer)).statusCode, 202);
  const large = await post(hook.path, 'x'.repeat(65_537), bearer);
  assert.deepEqual([large.statusCode, large.json()], [413, { error: 'A delivery may have 64 KB at most' }]);
  assert.equal((await post(hook.path, 'x'.repeat(2_000_000), bearer)).statusCode, 413);
});

test('a rotated secret ends at once or after a day; a revoked trigger and a deleted task are gone', async () => {
  const hook = await newHook(await newTask());
  const at = `${TASKS}/${hook.taskId}/triggers/${hook.id}`;
  const status = async (secret: string) => (await post(hook.path, 'x', signed(secret, 'x'))).statusCode;
  const second = (await ask('POST', `${at}/rotate`, { keepOld: true })).json();
  assert.notEqual(second.trigger.oldSecretUntil, null);
  assert.deepEqual([await status(hook.secret), await status(second.secret)], [202, 202]);
  const third = (await ask('POST', `${at}/rotate`, {})).json();
  assert.deepEqual(
    [await status(hook.secret), await status(second.secret), await status(third.secret)],
    [401, 401, 202],
  );
  assert.equal((await ask('PATCH', at, { enabled: false })).json().trigger.enabled, false);
  assert.equal(await status(third.secret), 404);
  assert.equal((await ask('PATCH', at, { enabled: true })).statusCode, 200);
  assert.equal(await status(third.secret), 202);
  await ask('PUT', TASKS, { taskId: hook.taskId, enabled: false });
  assert.equal(await status(third.secret), 409);
  assert.equal((await ask('DELETE', at)).statusCode, 200);
  assert.equal(await status(third.secret), 404);
  const gone = await newHook(await newTask());
  assert.equal((await ask('DELETE', TASKS, { taskId: gone.taskId })).statusCode, 200);
  assert.equal((await post(gone.path, 'x', signed(gone.secret, 'x'))).statusCode, 404);
  const { rows } = await sql`select secret from task_triggers where kind = 'webhook'`.execute(web.deps.db.system);
  assert.ok(!JSON.stringify(rows).includes('whsec_'));
});

test('a thousand deliveries: so many wait, the others are told to come again, nothing is lost or twice', async () => {
  const hook = await newHook(await newTask());
  const bearer = { authorization: `Bearer ${hook.secret}` };
  const one = (n: number) => post(hook.path, String(n), { ...bearer, 'webhook-id': `d${n}` });
  // Twenty at a time: more are refused before they are looked at.
  const answers: Awaited<ReturnType<typeof one>>[] = [];
  while (answers.length < 1000)
    answers.push(...(await Promise.all(Array.from({ length: 20 }, (_, n) => one(answers.length + n)))));
  const taken = answers.filter(({ statusCode }) => statusCode === 202);
  assert.equal(taken.length, 100);
  assert.ok(answers.every(({ statusCode }) => statusCode === 202 || statusCode === 429));
  const refused = answers.find(({ statusCode }) => statusCode === 429)!;
  assert.ok(Number(refused.headers['retry-after']) > 0);
  const runs = await runsOf(hook.taskId);
  assert.deepEqual(new Set(runs.map(({ id }) => id)), new Set(taken.map((answer) => answer.json().receiptId)));
  // One that was refused is free to come again.
  await sql`update task_runs set status = 'succeeded' where task_id = ${hook.taskId}`.execute(web.deps.db.system);
  await web.server.counters.clear(`hook:${hook.id}`);
  const late = answers.findIndex(({ statusCode }) => statusCode === 429);
  const again = await post(hook.path, 'x', { ...bearer, 'webhook-id': `d${late}` });
  assert.deepEqual([again.statusCode, again.json().duplicate], [202, false]);
});

test('run now, with words or JSON, with a session; the same key once; a task that is off says so', async () => {
  const id = await newTask();
  const run = (body: object) => ask('POST', `${TASKS}/${id}/run`, body);
  const first = await run({ input: 'words', key: 'k' });
  assert.equal(first.statusCode, 202, first.body);
  const again = await run({ input: 'other words', key: 'k' });
  assert.deepEqual(again.json(), { ...first.json(), duplicate: true });
  assert.equal((await run({ input: { a: [1] } })).statusCode, 202);
  assert.equal((await run({})).statusCode, 202);
  assert.deepEqual(
    new Set((await runsOf(id)).map(({ source, input }) => `${source} ${input}`)),
    new Set(['api null', 'api words', 'api {\n  "a": [\n    1\n  ]\n}']),
  );
  assert.deepEqual((await run({ input: ['x'.repeat(65_536)] })).json(), { error: 'input too long (max 65536)' });
  assert.equal((await run({ key: '' })).statusCode, 400);
  await ask('PUT', TASKS, { taskId: id, enabled: false });
  assert.deepEqual((await run({})).json(), { error: 'The task is switched off' });
});

test('what a trigger needs is said, circles are refused, and there are only so many', async () => {
  const [a, b, c] = [await newTask(), await newTask(), await newTask()];
  const make = (id: string, body: object) => ask('POST', `${TASKS}/${id}/triggers`, body);
  const refused: [object, string][] = [
    [{ kind: 'clock' }, 'kind must be webhook, file, email or task'],
    [{ kind: 'file' }, 'pattern must name files of the workspace, such as inbox/*.pdf'],
    [{ kind: 'file', pattern: '../x' }, 'pattern must name files of the workspace, such as inbox/*.pdf'],
    [{ kind: 'email', sender: 'nobody' }, 'sender must be a mail address or @domain'],
    [{ kind: 'task' }, 'afterTaskId required'],
    [{ kind: 'task', afterTaskId: b, outcome: 'maybe' }, 'outcome must be succeeded, failed or any'],
  ];
  for (const [body, error] of refused) {
    const answer = await make(a, body);
    assert.deepEqual([answer.statusCode, answer.json()], [400, { error }]);
  }
  const after = (id: string, first: string) => make(id, { kind: 'task', afterTaskId: first });
  assert.equal((await after(b, a)).statusCode, 201);
  assert.equal((await after(c, b)).statusCode, 201);
  for (const [later, first] of [
    [a, c],
    [a, b],
    [a, a],
  ] as const) {
    const circle = await after(later, first);
    assert.deepEqual(
      [circle.statusCode, circle.json()],
      [409, { error: 'That would be a circle: these tasks would start each other without end' }],
    );
  }
  const mail = await make(a, { kind: 'email', sender: 'Boss@Example.com' });
  assert.equal(mail.json().trigger.sender, 'boss@example.com');
  assert.equal((await ask('POST', `${TASKS}/${a}/triggers/${mail.json().trigger.id}/rotate`, {})).statusCode, 400);
  for (let n = 0; n < 9; n += 1) assert.equal((await make(a, { kind: 'file', pattern: '*.pdf' })).statusCode, 201);
  assert.deepEqual((await make(a, { kind: 'webhook' })).json(), { error: 'A task has 10 triggers at most' });
  const plan = await make(c, { kind: 'webhook' });
  assert.equal(plan.statusCode, 201);
});

test('two that would close a circle at once: one of them is refused', async () => {
  const [a, b] = [await newTask(), await newTask()];
  const answers = await Promise.all([
    ask('POST', `${TASKS}/${a}/triggers`, { kind: 'task', afterTaskId: b }),
    ask('POST', `${TASKS}/${b}/triggers`, { kind: 'task', afterTaskId: a }),
  ]);
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b),
    [201, 409],
  );
});

test('tasks, triggers and receipts of others do not exist', async () => {
  const hook = await newHook(await newTask());
  const { receiptId } = (await post(hook.path, 'x', { authorization: `Bearer ${hook.secret}` })).json();
  const own = await newTask(bob, 'agent-b');
  const at = `${TASKS}/${hook.taskId}`;
  const tries: [Method, string, object?][] = [
    ['GET', `${at}/triggers`],
    ['POST', `${at}/triggers`, { kind: 'webhook' }],
    ['PATCH', `${at}/triggers/${hook.id}`, { enabled: false }],
    ['POST', `${at}/triggers/${hook.id}/rotate`, {}],
    ['DELETE', `${at}/triggers/${hook.id}`],
    ['POST', `${at}/run`, {}],
    ['GET', `${at}/runs/${receiptId}`],
    ['DELETE', `${TASKS}/${own}/triggers/${hook.id}`],
    ['GET', `${TASKS}/${own}/runs/${receiptId}`],
    ['POST', `${TASKS}/${own}/triggers`, { kind: 'task', afterTaskId: hook.taskId }],
  ];
  for (const [method, url, body] of tries)
    assert.equal((await ask(method, url, body, bob)).statusCode, 404, `${method} ${url}`);
  for (const [method, url, body] of tries)
    assert.equal((await ask(method, url, body, null)).statusCode, 401, `${method} ${url}`);
});
