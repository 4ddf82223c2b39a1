import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Role, type Task } from '@a2a-js/sdk';
import * as current from '@a2a-js/sdk/client';
import * as legacy from 'a2a-js-sdk-0.3/client';
import { replyChat } from '@troupe/ai';
import { send } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** Both lines of the public A2A client ask to be told of tasks, and are. */

// oxlint-disable-next-line typescript/no-explicit-any -- what arrives is looked at field by field
type Any = any;

interface Told {
  path: string;
  headers: IncomingHttpHeaders;
  body: Any;
}

let world: World;
let agent: string;
let told: Told[] = [];
/** What an address answers, one after the other; then 204. */
let answers: Record<string, number[]> = {};
const receiver = createServer((request, response) => {
  void (async () => {
    let body = '';
    for await (const part of request) body += String(part);
    const path = request.url ?? '';
    told.push({ path, headers: request.headers, body: JSON.parse(body) });
    if (path === '/silent') return;
    response.writeHead(answers[path]?.shift() ?? 204, { location: '/elsewhere' }).end();
  })();
});
let hook: string;
let finish: (() => void)[] = [];

before(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  world = await startWorld();
  agent = await agentOf(world.user.key);
});
beforeEach(() => {
  reset(world);
  [told, answers, finish] = [[], {}, []];
  world.openrouter.answer((request, response) => {
    const { content } = (request.body['messages'] as { content: string }[]).at(-1)!;
    if (content !== 'hang') return replyChat(request, response, { content: `heard ${content}` });
    finish.push(() => replyChat(request, response, { content: 'at last' }));
  });
});
after(async () => {
  await world.stop();
  receiver.close().closeAllConnections();
});

async function agentOf(key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const made = await send(`${world.services.web}/api/agents/provision`, 'POST', { name: 'Ada' }, headers);
  return `${world.services.backend}/api/runtime/proxy/${made.body.agent.id}`;
}

const withKey =
  (key: string): typeof fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${key}`);
    return fetch(String(input).replace('http://127.0.0.1:3001', world.services.backend), { ...init, headers });
  };
const connect = (key = world.user.key, url = agent): Promise<current.Client> =>
  new current.ClientFactory({
    transports: [new current.JsonRpcTransportFactory({ fetchImpl: withKey(key) })],
  }).createFromUrl(`${url}/.well-known/agent-card.json`, '');
const connectLegacy = (): Promise<legacy.Client> =>
  new legacy.ClientFactory({
    transports: [new legacy.JsonRpcTransportFactory({ fetchImpl: withKey(world.user.key) })],
  }).createFromUrl(`${agent}/.well-known/agent-card.json`, '');

const configFor = (path: string, more: object = {}) => ({
  tenant: '',
  id: '',
  taskId: '',
  url: hook + path,
  token: '',
  authentication: undefined,
  ...more,
});
const message = (
  text: string,
  taskPushNotificationConfig?: ReturnType<typeof configFor>,
  returnImmediately = false,
) => ({
  tenant: '',
  metadata: undefined,
  configuration: { acceptedOutputModes: [], taskPushNotificationConfig, returnImmediately, historyLength: undefined },
  message: {
    messageId: crypto.randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content: { $case: 'text' as const, value: text }, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
});

async function until<T>(find: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    assert.ok(Date.now() < end, 'it never came');
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
const heard = (path: string, count = 1): Promise<Told> =>
  until(() => told.filter((one) => one.path === path)[count - 1]);
const rowsOf = (table: 'a2a_push_configs' | 'a2a_push_deliveries') =>
  world.services.runtime.db.system.selectFrom(table).selectAll().execute();

describe('1.0', () => {
  it('sets, gets, lists and deletes where it wants to be told, and is told with its credentials', async () => {
    const client = await connect();
    const { id: taskId } = (await client.sendMessage(message('hang', undefined, true))) as Task;
    const authentication = { scheme: 'Bearer', credentials: 'secret-of-mine' };
    const made = await client.createTaskPushNotificationConfig(
      configFor('/one', { id: 'one', taskId, token: 'tok', authentication }),
    );
    assert.deepEqual([made.id, made.taskId, made.url, made.token], ['one', taskId, `${hook}/one`, 'tok']);
    await client.createTaskPushNotificationConfig(configFor('/two', { taskId }));
    const got = await client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'one' });
    assert.deepEqual([got.url, got.authentication?.scheme, got.authentication?.credentials], [made.url, 'Bearer', '']);
    const page = { tenant: '', taskId, pageSize: 10, pageToken: '' };
    const { configs } = await client.listTaskPushNotificationConfig(page);
    assert.equal(configs.length, 2);
    await client.deleteTaskPushNotificationConfig({
      tenant: '',
      taskId,
      id: configs.find(({ id }) => id !== 'one')!.id,
    });
    assert.equal((await client.listTaskPushNotificationConfig(page)).configs.length, 1);
    assert.doesNotMatch(JSON.stringify(await rowsOf('a2a_push_configs')), /secret-of-mine/);
    (await until(() => finish[0]))();
    const { headers, body } = await heard('/one');
    assert.deepEqual(
      [headers.authorization, headers['x-a2a-notification-token'], headers['content-type']],
      ['Bearer secret-of-mine', 'tok', 'application/a2a+json'],
    );
    assert.deepEqual([body.task.id, body.task.status.state], [taskId, 'TASK_STATE_COMPLETED']);
    assert.equal(body.task.artifacts[0].parts[0].text, 'at last');
    await until(async () => ((await rowsOf('a2a_push_deliveries')).length === 0 ? true : undefined));
    assert.deepEqual(
      told.map(({ path }) => path),
      ['/one'],
    );
  });

  it('is told where the message itself asks for it, also when the answer is faster, and streamed', async () => {
    const client = await connect();
    const task = (await client.sendMessage(message('quick', configFor('/quick')))) as Task;
    assert.equal((await heard('/quick')).body.task.id, task.id);
    for await (const _ of client.sendMessageStream(message('words', configFor('/streamed'))));
    assert.equal((await heard('/streamed')).body.task.status.state, 'TASK_STATE_COMPLETED');
    // Asked for when all is over, it is told as well.
    await client.createTaskPushNotificationConfig(configFor('/late', { taskId: task.id }));
    assert.equal((await heard('/late')).body.task.id, task.id);
  });

  it('an address that fails is tried again, a redirect is not followed, and others do not wait for the dead', async () => {
    const client = await connect();
    answers['/again'] = [500, 302];
    await client.sendMessage(message('one', configFor('/again')));
    for (let n = 0; n < 3; n += 1) await client.sendMessage(message('dead', configFor('/silent')));
    await heard('/silent', 2);
    const { key } = await addUser(world.services.runtime, { plan: 'network' });
    const other = await connect(key, await agentOf(key));
    const began = Date.now();
    await other.sendMessage(message('mine', configFor('/other')));
    await heard('/other');
    assert.ok(Date.now() - began < 10_000);
    await heard('/again', 3);
    assert.equal(
      told.some(({ path }) => path === '/elsewhere'),
      false,
    );
  });

  it('refuses what cannot be sent, more than ten for a task, and the tasks of others', async () => {
    const client = await connect();
    const { id: taskId } = (await client.sendMessage(message('one'))) as Task;
    for (const wrong of [{ url: 'ftp://x.test' }, { url: 'no' }, { token: 'a\r\nb: c' }])
      await assert.rejects(
        client.createTaskPushNotificationConfig(configFor('/x', { taskId, ...wrong })),
        /Invalid parameters/,
      );
    for (let n = 0; n < 10; n += 1)
      await client.createTaskPushNotificationConfig(configFor('/many', { taskId, id: `n${n}` }));
    await assert.rejects(client.createTaskPushNotificationConfig(configFor('/many', { taskId, id: 'n' })), /at most/);
    const { key } = await addUser(world.services.runtime, { plan: 'network' });
    const foreign = await connect(key, await agentOf(key));
    await assert.rejects(
      foreign.createTaskPushNotificationConfig(configFor('/x', { taskId })),
      /Task not found|TaskNotFound/,
    );
    await assert.rejects(foreign.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'n1' }), /not found/i);
  });
});

describe('0.3', () => {
  it('sets, gets, lists, deletes, and is told the task', async () => {
    const client = await connectLegacy();
    const parts = [{ kind: 'text' as const, text: 'hang' }];
    const given = { kind: 'message' as const, messageId: crypto.randomUUID(), role: 'user' as const, parts };
    const task = await client.sendMessage({
      message: given,
      configuration: { blocking: false, pushNotificationConfig: { url: `${hook}/legacy`, token: 'tok' } },
    });
    assert.ok(task.kind === 'task');
    const authentication = { schemes: ['Basic'], credentials: 'abc' };
    const second = { id: 'second', url: `${hook}/second`, authentication };
    await client.setTaskPushNotificationConfig({ taskId: task.id, pushNotificationConfig: second });
    const got = await client.getTaskPushNotificationConfig({ id: task.id });
    assert.deepEqual([got.pushNotificationConfig.url, got.pushNotificationConfig.token], [`${hook}/legacy`, 'tok']);
    assert.equal((await client.listTaskPushNotificationConfig({ id: task.id })).length, 2);
    (await until(() => finish[0]))();
    const { headers, body } = await heard('/legacy');
    assert.equal(headers['x-a2a-notification-token'], 'tok');
    assert.deepEqual([body.kind, body.id, body.status.state], ['task', task.id, 'completed']);
    assert.equal((await heard('/second')).headers.authorization, 'Basic abc');
    await client.deleteTaskPushNotificationConfig({ id: task.id, pushNotificationConfigId: 'second' });
    assert.equal((await client.listTaskPushNotificationConfig({ id: task.id })).length, 1);
  });
});
