import assert from 'node:assert/strict';
import http from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createWorkerPool, silentLog } from '@troupe/kernel';
import { callOnce, counter, lastText, testAgent } from '../testing.ts';
import { makeWorkspace } from '../workspace/workspace.ts';
import { createGateway } from './gateway.ts';

const pool = createWorkerPool();
const folder = await mkdtemp(path.join(tmpdir(), 'a2a-'));
const workspace = await makeWorkspace(folder, { pool, owner: 'owner' });
const { agent, model } = await testAgent({
  workspace: async () => workspace,
  toolList: [counter().tool],
  definition: { approvals: { count: 'ask' }, role: 'Helper' },
  script: (request, turn, signal) => {
    const text = lastText(request);
    if (text === 'count') return callOnce()(request);
    if (text === 'hang')
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    return `heard ${text} in turn ${turn}`;
  },
});
const gateway = createGateway({
  agent: async () => agent,
  verify: async (_, token) => (token === 'token' ? { id: 'owner', kind: 'owner' as const } : undefined),
  publicUrl: (id) => `http://platform.test/${id}`,
  version: '1.2.3',
  log: silentLog,
});
const server = http.createServer(
  (request, response) => void gateway.handle(request, response, { agentId: 'agent', path: request.url ?? '/' }),
);
let base = '';
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  await gateway.close();
  await pool.close();
  await rm(folder, { recursive: true });
  server.closeAllConnections();
  server.close();
});

interface Message {
  role: string;
  parts: { kind?: string; text: string }[];
  taskId: string;
}
interface Task {
  kind?: string;
  id: string;
  contextId: string;
  status: { state: string; message?: Message };
  artifacts?: { parts: { text: string }[] }[];
}
interface Update {
  kind?: string;
  final?: boolean;
  taskId: string;
  status: Task['status'];
  artifact: { parts: { text: string }[] };
  append: boolean;
  lastChunk: boolean;
}
interface Result extends Task, Update {
  task: Task;
  statusUpdate: Update;
  artifactUpdate: Update;
}
interface Reply {
  id: number;
  result: Result;
  error: { code: number; message: string };
}

const post = (method: string, params: unknown, version?: string) =>
  fetch(`${base}/a2a`, {
    method: 'POST',
    headers: { authorization: 'Bearer token', ...(version && { 'a2a-version': version }) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  });
const rpc = async (method: string, params: unknown, version?: string) =>
  (await (await post(method, params, version)).json()) as Reply;
const stream = async (method: string, params: unknown): Promise<Result[]> => {
  const response = await post(method, params);
  assert.match(response.headers.get('content-type') ?? '', /event-stream/);
  const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('data: '));
  return events.map((event) => (JSON.parse(event.slice(6)) as Reply).result);
};

let count = 0;
const says = (text: string, more: object = {}) => ({
  message: { role: 'ROLE_USER', messageId: `m${(count += 1)}`, parts: [{ text }], ...more },
});

describe('agent to agent', () => {
  test('a card that both versions understand, for everybody to read', async () => {
    const card = (await (await fetch(`${base}/.well-known/agent-card.json`)).json()) as Record<string, unknown>;
    const url = 'http://platform.test/agent/a2a';
    assert.deepEqual(card['supportedInterfaces'], [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ]);
    assert.deepEqual(
      [card['name'], card['url'], card['protocolVersion'], card['preferredTransport']],
      ['Ada', url, '0.3.0', 'JSONRPC'],
    );
    assert.deepEqual(card['capabilities'], {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: true,
    });
    assert.deepEqual(card['securityRequirements'], [{ schemes: { gatewayToken: { list: [] } } }]);
  });

  test('a message is a task of its own, in its context', async () => {
    const { id, result } = await rpc('SendMessage', says('hi'), '1.0');
    const { task } = result;
    assert.equal(id, 7);
    assert.deepEqual([task.status.state, task.kind], ['TASK_STATE_COMPLETED', undefined]);
    assert.deepEqual(
      [task.status.message?.role, task.status.message?.taskId, task.status.message?.parts],
      ['ROLE_AGENT', task.id, [{ text: 'heard hi in turn 1' }]],
    );
    assert.equal(task.artifacts?.[0]?.parts[0]?.text, 'heard hi in turn 1');
    const second = (await rpc('SendMessage', says('again', { contextId: task.contextId }))).result.task;
    assert.equal(model.requests.at(-1)?.messages.length, 4);
    assert.equal(second.contextId, task.contextId);
    assert.notEqual(second.id, task.id);
    // The first is as it was.
    assert.equal((await rpc('GetTask', { id: task.id })).result.artifacts?.[0]?.parts[0]?.text, 'heard hi in turn 1');
    assert.match((await rpc('GetTask', { id: second.id })).result.artifacts?.[0]?.parts[0]?.text ?? '', /again/);
    assert.equal((await rpc('SendMessage', says('more', { taskId: task.id }))).error.code, -32_004);
    assert.equal((await rpc('CancelTask', { id: task.id })).error.code, -32_002);
    assert.equal((await rpc('SubscribeToTask', { id: task.id })).error.code, -32_004);
  });

  test('files of both versions are taken: words of them go to the model, what cannot be taken is refused by its code', async () => {
    const bytes = Buffer.from('The rent is 900.').toString('base64');
    const current = { filename: '../lease.txt', mediaType: 'text/plain', raw: bytes };
    const old = { kind: 'file', file: { name: 'old.txt', mimeType: 'text/plain', bytes } };
    const send = (method: string, parts: object[]) => rpc(method, says('', { role: 'user', parts }));
    const { task } = (await send('SendMessage', [{ text: 'Read' }, current])).result;
    assert.match(task.artifacts![0]!.parts[0]!.text, /heard Read[^]*uploads\/[0-9a-f]{12}-lease\.txt[^]*rent is 900/);
    const alone = (await send('message/send', [old])).result;
    assert.match(alone.artifacts![0]!.parts[0]!.text, /uploads\/[0-9a-f]{12}-old\.txt[^]*rent is 900/);
    assert.match(JSON.stringify(alone), /\[attached: uploads\/[0-9a-f]{12}-old\.txt\]/, 'its history names it');
    // A megabyte and more comes, too.
    const large = { raw: Buffer.alloc(3 * 1024 * 1024).toString('base64'), filename: 'large.bin' };
    assert.match(JSON.stringify((await send('SendMessage', [large])).result), /large\.bin, 3072 KB/);
    for (const part of [
      { url: 'https://files.example/a.txt', mediaType: 'text/plain' },
      { kind: 'file', file: { uri: 'https://files.example/a.txt' } },
      { raw: '' },
      { kind: 'video' },
    ])
      assert.equal((await send('SendMessage', [{ text: 'x' }, part])).error.code, -32_005);
    const many = Array.from({ length: 11 }, () => current);
    assert.equal((await send('SendMessage', many)).error.code, -32_005);
  });

  test('0.3 gets its own words', async () => {
    const message = { kind: 'message', role: 'user', messageId: 'old-1', parts: [{ kind: 'text', text: 'hi' }] };
    const { result } = await rpc('message/send', { message });
    assert.deepEqual(
      [result.kind, result.status.state, result.status.message?.role, result.status.message?.parts[0]?.kind],
      ['task', 'completed', 'agent', 'text'],
    );
    assert.equal((await rpc('tasks/get', { id: result.id })).result.status.state, 'completed');
    const events = await stream('message/stream', { message: { ...message, messageId: 'old-2' } });
    assert.deepEqual([events[0]?.kind, events[0]?.status.state], ['task', 'working']);
    assert.deepEqual([events.at(-2)?.kind, events.at(-2)?.lastChunk], ['artifact-update', true]);
    const last = events.at(-1);
    assert.deepEqual([last?.kind, last?.final, last?.status.state], ['status-update', true, 'completed']);
  });

  test('streams its words as they are written', async () => {
    const events = await stream('SendStreamingMessage', says('a few words'));
    const task = events[0]?.task;
    assert.equal(task?.status.state, 'TASK_STATE_WORKING');
    const pieces = events.flatMap(({ artifactUpdate }) => (artifactUpdate ? [artifactUpdate] : []));
    const whole = pieces.at(-1);
    const written = pieces.slice(0, -1);
    assert.ok(written.length > 0);
    assert.equal(written.map((piece) => piece.artifact.parts[0]?.text).join(''), whole?.artifact.parts[0]?.text);
    assert.deepEqual(
      written.map((piece) => piece.append),
      written.map((_, index) => index > 0),
    );
    assert.deepEqual([whole?.append, whole?.lastChunk, whole?.taskId], [false, true, task?.id]);
    assert.equal(events.at(-1)?.statusUpdate.status.state, 'TASK_STATE_COMPLETED');
  });

  test('a task goes on behind an answer at once, can be watched and canceled', async () => {
    const hang = { ...says('hang'), configuration: { returnImmediately: true } };
    const { task } = (await rpc('SendMessage', hang)).result;
    assert.equal(task.status.state, 'TASK_STATE_WORKING');
    const watched = stream('SubscribeToTask', { id: task.id });
    const canceled = (await rpc('CancelTask', { id: task.id })).result;
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELED');
    const events = await watched;
    assert.equal(events.at(-1)?.statusUpdate.status.state, 'TASK_STATE_CANCELED');
  });

  test('what waits for an approval says so', async () => {
    const { task } = (await rpc('SendMessage', says('count'))).result;
    assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED');
    const [pending] = await agent.store.pendingApprovals();
    await agent.decide(pending!.approvalId, true, 'owner');
    const state = async () => (await rpc('GetTask', { id: task.id })).result.status.state;
    while ((await state()) !== 'TASK_STATE_COMPLETED') await new Promise((resolve) => setTimeout(resolve, 10));
  });

  test('errors have the protocol’s codes', async () => {
    const other = await agent.tell({ to: { channel: 'api', key: 'private' }, content: 'mine' });
    for (const [method, params, code, version] of [
      ['GetTask', { id: 'none' }, -32_001],
      ['GetTask', { id: `${other.sessionId}:${other.seq}` }, -32_001],
      ['SendMessage', says('x', { taskId: 'none:1' }), -32_001],
      ['SendMessage', {}, -32_602],
      ['SendMessage', { message: { ...says('x').message, role: 'ROLE_AGENT' } }, -32_602],
      ['SendMessage', { message: { ...says('x').message, parts: [{ url: 'http://x' }] } }, -32_005],
      ['SendMessage', says('x'.repeat(1_100_000)), -32_603],
      ['SendMessage', { message: { ...says('x').message, parts: [{ text: 'read it' }, { raw: '' }] } }, -32_005],
      ['ListTasks', { status: 'TASK_STATE_WORKING' }, -32_602],
      ['ListTasks', { pageSize: 1000 }, -32_602],
      ['SendMessage', { ...says('x'), configuration: { taskPushNotificationConfig: { url: 'http://x' } } }, -32_003],
      ['CreateTaskPushNotificationConfig', {}, -32_003],
      ['tasks/pushNotificationConfig/set', {}, -32_003],
      ['nothing', {}, -32_601],
      ['toString', {}, -32_601],
      ['__proto__', {}, -32_601],
      ['SendMessage', says('x'), -32_009, '2.0'],
    ] as const)
      assert.equal(
        (await rpc(method, params, version)).error.code,
        code,
        `${method} ${JSON.stringify(params).slice(0, 80)}`,
      );
  });
});
