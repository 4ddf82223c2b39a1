import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Role, TaskState, type Task } from '@a2a-js/sdk';
import * as current from '@a2a-js/sdk/client';
import * as legacy from 'a2a-js-sdk-0.3/client';
import { replyChat } from '@troupe/ai';
import { send } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** Both lines of the public A2A client, with an API key of the owner’s. */

let world: World;
let url: string;
/** Ends the answers that hang. */
let finish: (() => void)[] = [];
before(async () => {
  world = await startWorld();
  const headers = { authorization: `Bearer ${world.user.key}` };
  const made = await send(`${world.services.web}/api/agents/provision`, 'POST', { name: 'Ada' }, headers);
  url = `${world.services.backend}/api/runtime/proxy/${made.body.agent.id}`;
});
beforeEach(() => {
  reset(world);
  finish = [];
  world.openrouter.answer((request, response) => {
    const { content } = (request.body['messages'] as { content: string }[]).at(-1)!;
    if (content !== 'hang') return replyChat(request, response, { content: `heard ${content}` });
    finish.push(() => replyChat(request, response, { content: 'at last' }));
  });
});
after(() => world.stop());

const withKey =
  (key: string): typeof fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${key}`);
    // The card names the address that the platform is set up with; here it listens on another port.
    return fetch(String(input).replace('http://127.0.0.1:3001', world.services.backend), { ...init, headers });
  };

describe('1.0', () => {
  const connect = (key = world.user.key): Promise<current.Client> =>
    new current.ClientFactory({
      transports: [new current.JsonRpcTransportFactory({ fetchImpl: withKey(key) })],
    }).createFromUrl(`${url}/.well-known/agent-card.json`, '');
  const message = (text: string, more: object = {}) => ({
    tenant: '',
    metadata: undefined,
    configuration: undefined,
    message: {
      messageId: crypto.randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text' as const, value: text }, metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...more,
    },
  });
  const atOnce = (text: string) => ({
    ...message(text),
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: true,
      historyLength: 0,
    },
  });
  const textOf = (task: Task): unknown => task.artifacts[0]?.parts[0]?.content?.value;

  it('sends, gets with its history, lists, and reads the card of those who may talk', async () => {
    const client = await connect();
    assert.equal(client.protocolVersion, '1.0');
    const first = (await client.sendMessage(message('one'))) as Task;
    assert.equal(first.status?.state, TaskState.TASK_STATE_COMPLETED);
    assert.equal(textOf(first), 'heard one');
    const second = (await client.sendMessage(message('two', { contextId: first.contextId }))) as Task;
    assert.equal(second.contextId, first.contextId);
    const got = await client.getTask({ tenant: '', id: first.id, historyLength: undefined });
    assert.deepEqual(
      got.history.map(({ role, parts }) => [role, parts[0]?.content?.value]),
      [
        [Role.ROLE_USER, 'one'],
        [Role.ROLE_AGENT, 'heard one'],
      ],
    );
    assert.equal(got.status?.message?.messageId, first.status.message?.messageId);
    assert.equal((await client.getTask({ tenant: '', id: first.id, historyLength: 1 })).history.length, 1);
    const page = {
      tenant: '',
      contextId: first.contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageSize: 1,
      pageToken: '',
      statusTimestampAfter: undefined,
      includeArtifacts: true,
    };
    const listed = await client.listTasks(page);
    assert.deepEqual([listed.totalSize, listed.tasks.map(({ id }) => id)], [2, [second.id]]);
    assert.equal(textOf(listed.tasks[0]!), 'heard two');
    const rest = await client.listTasks({ ...page, pageToken: listed.nextPageToken, includeArtifacts: false });
    assert.deepEqual([rest.nextPageToken, rest.tasks.map(({ id }) => id)], ['', [first.id]]);
    assert.deepEqual(rest.tasks[0]?.artifacts, []);
    const card = await client.getAgentCard();
    assert.equal(card.capabilities?.extendedAgentCard, true);
    assert.equal(card.name, 'Ada');
  });

  it('sends a file', async () => {
    const value = Buffer.from('The rent is 900.');
    const file = { content: { $case: 'raw' as const, value }, metadata: undefined, filename: 'lease.txt' };
    const parts = [{ ...file, mediaType: 'text/plain' }];
    const task = (await (await connect()).sendMessage(message('', { parts }))) as Task;
    assert.match(String(textOf(task)), /-lease\.txt[^]*The rent is 900\./);
  });

  it('streams, watches again and cancels', async () => {
    const client = await connect();
    const cases = [];
    for await (const { payload } of client.sendMessageStream(message('words'))) cases.push(payload?.$case);
    assert.deepEqual([cases[0], cases.at(-1)], ['task', 'statusUpdate']);
    assert.ok(cases.includes('artifactUpdate'));
    const task = (await client.sendMessage(atOnce('hang'))) as Task;
    assert.equal(task.status?.state, TaskState.TASK_STATE_WORKING);
    const states: unknown[] = [];
    const watching = (async () => {
      for await (const { payload } of client.resubscribeTask({ tenant: '', id: task.id }))
        if (payload?.$case === 'statusUpdate') states.push(payload.value.status?.state);
    })();
    const cancelled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    assert.equal(cancelled.status?.state, TaskState.TASK_STATE_CANCELED);
    await watching;
    assert.deepEqual(states, [TaskState.TASK_STATE_CANCELED]);
    await assert.rejects(client.cancelTask({ tenant: '', id: task.id, metadata: undefined }), /cannot be canceled/);
  });

  it('goes on when the one who streams it leaves', async () => {
    const client = await connect();
    let id = '';
    for await (const { payload } of client.sendMessageStream(message('hang'))) {
      if (payload?.$case === 'task') id = payload.value.id;
      break;
    }
    while (finish.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    finish[0]!();
    let task = await client.getTask({ tenant: '', id });
    while (task.status?.state === TaskState.TASK_STATE_WORKING) task = await client.getTask({ tenant: '', id });
    assert.equal(textOf(task), 'at last');
  });

  it('refuses the address of a file by its error, and a model that is dead is a failed task', async () => {
    const client = await connect();
    const file = { content: { $case: 'url' as const, value: 'https://files.example/a.txt' }, metadata: undefined };
    const parts = [...message('see').message.parts, { ...file, filename: 'a.txt', mediaType: 'text/plain' }];
    await assert.rejects(client.sendMessage(message('see', { parts })), /an address is not fetched/);
    world.openrouter.answer((_request, response) => void response.writeHead(400).end('{"error":{"message":"no"}}'));
    const task = (await client.sendMessage(message('one'))) as Task;
    assert.equal(task.status?.state, TaskState.TASK_STATE_FAILED);
  });

  it('is nobody else’s', async () => {
    const task = (await (await connect()).sendMessage(message('one'))) as Task;
    const { key } = await addUser(world.services.runtime, { plan: 'network' });
    await assert.rejects((await connect(key)).getTask({ tenant: '', id: task.id }), /401|Unauthorized/);
  });
});

describe('0.3', () => {
  const connect = (): Promise<legacy.Client> =>
    new legacy.ClientFactory({
      transports: [new legacy.JsonRpcTransportFactory({ fetchImpl: withKey(world.user.key) })],
    }).createFromUrl(`${url}/.well-known/agent-card.json`, '');
  const message = (text: string, more: object = {}) => ({
    message: {
      kind: 'message' as const,
      messageId: crypto.randomUUID(),
      role: 'user' as const,
      parts: [{ kind: 'text' as const, text }],
      ...more,
    },
  });

  it('sends, streams, gets, watches again and cancels', async () => {
    const client = await connect();
    const first = await client.sendMessage(message('one'));
    assert.ok(first.kind === 'task' && first.status.state === 'completed');
    const got = await client.getTask({ id: first.id, historyLength: 2 });
    assert.deepEqual(
      got.history?.map(({ role }) => role),
      ['user', 'agent'],
    );
    const kinds = [];
    for await (const event of client.sendMessageStream(message('words'))) kinds.push(event.kind);
    assert.deepEqual([kinds[0], kinds.at(-1)], ['task', 'status-update']);
    const task = await client.sendMessage({ ...message('hang'), configuration: { blocking: false } });
    assert.ok(task.kind === 'task');
    const watched: string[] = [];
    const watching = (async () => {
      for await (const event of client.resubscribeTask({ id: task.id })) watched.push(event.kind);
    })();
    assert.equal((await client.cancelTask({ id: task.id })).status.state, 'canceled');
    await watching;
    assert.equal(watched.at(-1), 'status-update');
  });

  it('reads the card of those who may talk, and is told what is not there', async () => {
    const client = await connect();
    const card = await client.getAgentCard();
    assert.equal(card.supportsAuthenticatedExtendedCard, true);
    await assert.rejects(client.getTask({ id: 'none' }), legacy.TaskNotFoundError);
    const file = { bytes: Buffer.from('The rent is 900.').toString('base64'), mimeType: 'text/plain', name: 'l.txt' };
    const task = await client.sendMessage(message('', { parts: [{ kind: 'file' as const, file }] }));
    assert.match(JSON.stringify(task), /-l\.txt[^]*The rent is 900\./);
    const parts = [{ kind: 'file' as const, file: { uri: 'https://files.example/a', mimeType: 'text/plain' } }];
    await assert.rejects(client.sendMessage(message('', { parts })), legacy.ContentTypeNotSupportedError);
  });
});
