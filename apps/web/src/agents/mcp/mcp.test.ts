import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, beforeEach, describe, test } from 'node:test';
import { web } from '@troupe/contract';
import { AppError, serve, silentLog, type RequestInfo, type Server, type User } from '@troupe/kernel';
import { testServer } from '@troupe/testing/http/server';
import { createAnswer } from './answer.ts';
import { createMcp, type McpDeps } from './service.ts';

/** The platform's MCP server over services that say what they are asked. The official clients try the whole in tests/clients. */

// oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
type Body = any;

const ann = { id: 'ann', email: 'ann@example.com', name: 'Ann', isAdmin: false } as User;
const NOW = new Date('2026-03-01T12:00:00Z');

let asked: unknown[][] = [];
let failing: unknown[] = [];
/** What the next service answers. */
let answers: Body;
let chat: (signal: AbortSignal) => Promise<{ reply: string }>;
/** What the access token of the caller opens; undefined: an API key, which opens all. */
let scopes: string[] | undefined;

const service = (name: string): never =>
  new Proxy(
    {},
    {
      get:
        (_, verb) =>
        async (...given: unknown[]) => {
          asked.push([`${name}.${String(verb)}`, ...given]);
          if (answers instanceof Error) throw answers;
          return name === 'chat' ? chat(given[3] as AbortSignal) : answers;
        },
    },
  ) as never;

const roster = {
  of: (userId: string) => ({
    list: async (page: object) => {
      asked.push(['roster.list', userId, page]);
      return answers;
    },
  }),
} as never;

let server: Server;
let url: string;
let mcp: ReturnType<typeof createMcp>;
before(async () => {
  server = testServer({ env: { HOST: '127.0.0.1' } });
  mcp = createMcp({
    roster,
    chat: service('chat'),
    conversations: service('conversations'),
    memory: service('memory'),
    tasks: service('tasks'),
    log: { ...silentLog, error: (given: unknown) => void failing.push(given) } as McpDeps['log'],
    version: '1.2.3',
  });
  const answer = createAnswer(mcp);
  // Who may come in is the guard's, and has tests of its own.
  serve(server, { ...web.mcp.call, auth: 'none' }, ({ request }) =>
    answer('POST', { ...ann, ...(scopes && { scopes }) } as User, request),
  );
  url = `${await server.listen(0, 'WEB_PORT')}/mcp`;
});
after(async () => {
  await mcp.close();
  await server.close();
});
beforeEach(() => {
  asked = [];
  failing = [];
  answers = [];
  scopes = undefined;
  chat = async () => ({ reply: 'Done.' });
});

const post = (body: string, signal?: AbortSignal) =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-03-26',
    },
    body,
    ...(signal && { signal }),
  });
const message = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const toolCall = (name: string, args: object = {}) => message('tools/call', { name, arguments: args });

async function rpc(body: string): Promise<Body> {
  const response = await post(body);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const said = JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text) as Body;
  return said.result ?? said;
}
const call = (name: string, args: object = {}): Promise<Body> => rpc(toolCall(name, args));
const textOf = ({ content }: Body): string => content[0].text;

describe('tools', () => {
  test('each says what it does, and whether it changes or takes something away', async () => {
    const { tools } = await rpc(message('tools/list', {}));
    assert.deepEqual(
      tools.map(({ name, annotations }: Body) => [name, annotations.readOnlyHint, annotations.destructiveHint]),
      [
        ['list_agents', true, false],
        ['ask_agent', false, false],
        ['read_conversation', true, false],
        ['list_conversations', true, false],
        ['read_memory', true, false],
        ['list_tasks', true, false],
        ['list_task_runs', true, false],
        ['create_task', false, false],
        ['delete_task', false, true],
      ],
    );
  });

  test('agents are those of the caller, a hundred at a time', async () => {
    const row = { id: 'a', name: 'Ada', status: 'running', model: 'm', team_id: null, created_at: NOW, secret: 's' };
    answers = [row];
    const { structuredContent } = await call('list_agents', { offset: 100 });
    assert.deepEqual(asked, [['roster.list', 'ann', { limit: 100, offset: 100 }]]);
    const created_at = NOW.toISOString();
    assert.deepEqual(structuredContent.agents, [
      { id: 'a', name: 'Ada', status: 'running', model: 'm', team: null, created_at },
    ]);
  });

  test('what is asked for wrongly never reaches a service', async () => {
    for (const [name, args] of [
      ['list_agents', { offset: -1 }],
      ['ask_agent', { agent: '', message: 'Hi' }],
      ['ask_agent', { agent: 'a', message: 'Hi', conversation: '../other' }],
      ['create_task', { agent: 'a', name: ' ', schedule: '* * * * *', prompt: 'p' }],
    ] as const) {
      const answer = await call(name, args);
      assert.ok(answer.isError === true || answer.error, JSON.stringify(answer));
    }
    assert.deepEqual(asked, []);
  });

  test('a message goes to the agent under its conversation; one without a name gets one that is told', async () => {
    await call('ask_agent', { agent: 'a', message: 'Hi', conversation: 'plans' });
    assert.deepEqual(asked[0]!.slice(0, 3), [
      'chat.send',
      asked[0]![1],
      { message: 'Hi', agentId: 'a', topic: 'plans' },
    ]);
    assert.equal((asked[0]![1] as User).id, 'ann');
    const { structuredContent } = await call('ask_agent', { agent: 'a', message: 'Hi' });
    assert.match(structuredContent.conversation, /^mcp-/);
    assert.deepEqual([structuredContent.status, structuredContent.reply], ['answered', 'Done.']);
  });

  test('an agent that needs longer goes on: the caller is told where to read later', async () => {
    chat = (signal) => once(signal, 'abort').then(() => Promise.reject(new Error('the caller left')));
    const answer = await call('ask_agent', { agent: 'a', message: 'Hi', conversation: 'long', wait_seconds: 1 });
    assert.equal(textOf(answer), 'The agent still works on it. Read the conversation long later.');
    assert.deepEqual(answer.structuredContent, { conversation: 'long', status: 'working', reply: null });
    assert.equal(answer.isError, undefined);
  });

  test('a refusal of a service is told as its sentence, and what broke is not', async () => {
    answers = new AppError(402, 'No credits left');
    const refused = await call('read_memory', { agent: 'a' });
    assert.deepEqual([refused.isError, textOf(refused)], [true, 'No credits left']);
    assert.deepEqual(failing, []);
    answers = new Error('password=hunter2');
    const broken = await call('read_memory', { agent: 'a' });
    assert.deepEqual([broken.isError, textOf(broken)], [true, 'Internal server error']);
    assert.equal(failing.length, 1, 'the operator reads it');
  });

  test('of a memory 50,000 characters are told, and that there is none', async () => {
    answers = { memory: { port: 'Brest', long: 'x'.repeat(60_000) } };
    const text = textOf(await call('read_memory', { agent: 'a' }));
    assert.match(text, /^port: Brest\nlong: x/);
    assert.equal(text.length, 50_000);
    answers = { memory: {} };
    assert.equal(textOf(await call('read_memory', { agent: 'a' })), 'Nothing is remembered.');
  });

  test('tasks and their runs are told in short', async () => {
    answers = { tasks: [{ id: 't', prompt: 'p'.repeat(600) }] };
    const listed = await call('list_tasks', { agent: 'a' });
    assert.equal(listed.structuredContent.tasks[0].prompt.length, 500);
    answers = {
      runs: [
        { id: 'r', output: 'o'.repeat(3000) },
        { id: 'q', output: null },
      ],
    };
    const { structuredContent } = await call('list_task_runs', { task: 't' });
    assert.deepEqual(
      structuredContent.runs.map(({ output }: Body) => output?.length ?? null),
      [2000, null],
    );
    assert.deepEqual(asked, [
      ['tasks.list', 'ann', 'a', { limit: 100, offset: 0 }],
      ['tasks.runs', 'ann', 't', 20],
    ]);
  });

  test('a task is made and deleted as its owner', async () => {
    answers = { id: 't', nextRun: '2026-03-02T00:00:00.000Z' };
    const made = await call('create_task', { agent: 'a', name: 'Daily', schedule: '0 0 * * *', prompt: 'Go.' });
    assert.equal(textOf(made), 'Scheduled as t; it comes next at 2026-03-02T00:00:00.000Z.');
    assert.equal(textOf(await call('delete_task', { task: 't' })), 'Task t is deleted.');
    const [create, remove] = asked as [unknown[], unknown[]];
    const given = { name: 'Daily', cronSchedule: '0 0 * * *', timezone: 'UTC', prompt: 'Go.', agentId: 'a' };
    assert.deepEqual([create[0], (create[1] as User).id, create[2]], ['tasks.create', 'ann', given]);
    assert.deepEqual(remove, ['tasks.remove', 'ann', 't']);
  });
});

describe('the door', () => {
  test('a token calls the tools that it was given, and is told what it lacks', async () => {
    scopes = ['agents:read'];
    assert.equal((await call('list_agents')).isError, undefined);
    const refused = await post(toolCall('delete_task', { task: 't' }));
    assert.equal(refused.status, 403);
    assert.deepEqual(await refused.json(), { error: 'This needs the scope tasks:write', scope: 'tasks:write' });
    assert.match(refused.headers.get('www-authenticate') ?? '', /scope="agents:read tasks:write"/);
    assert.deepEqual(
      asked.map(([what]) => what),
      ['roster.list'],
    );
  });

  test('one call that it may not make refuses all that came with it', async () => {
    scopes = ['agents:read'];
    const both = `[${toolCall('list_agents')},${toolCall('delete_task', { task: 't' })}]`;
    assert.equal((await post(both)).status, 403);
    assert.deepEqual(asked, []);
  });

  test('a body that is none, too many messages and too many values are refused as the protocol has it', async () => {
    for (const [body, error] of [
      ['{', /JSON/],
      [`[${Array.from({ length: 11 }, () => toolCall('list_agents')).join(',')}]`, /^A body has 10 messages at most$/],
      [toolCall('list_agents', { many: Array.from({ length: 2000 }, () => 1) }), /^A body has 2000 values at most$/],
      [`[${'[],'.repeat(20_000)}[]]`, /outside of its texts/],
    ] as const) {
      const response = await post(body);
      assert.equal(response.status, 400);
      const { jsonrpc, id, error: told } = (await response.json()) as Body;
      assert.deepEqual([jsonrpc, id, told.code], ['2.0', null, -32_700]);
      assert.match(told.message, error);
    }
    assert.deepEqual(asked, []);
  });

  test('twenty calls of a user at once; whoever goes away leaves a place', async () => {
    chat = () => new Promise(() => {});
    answers = undefined;
    const answer = createAnswer(mcp);
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const rawBody = toolCall('ask_agent', { agent: 'a', message: 'Hi' });
    const open = async (user: User): Promise<AbortController> => {
      const gone = new AbortController();
      const request = { rawBody, headers, address: '::1', signal: () => gone.signal } as unknown as RequestInfo;
      const { texts } = await answer('POST', user, request);
      // Its head is on its way.
      assert.equal((await texts![Symbol.asyncIterator]().next()).value, ': \n\n');
      return gone;
    };
    const callers: AbortController[] = [];
    for (let n = 0; n < 20; n += 1) callers.push(await open(ann));
    await assert.rejects(open(ann), { status: 429, message: 'Too many calls at once (max 20)' });
    callers.push(await open({ ...ann, id: 'ben' } as User));
    callers[0]!.abort();
    callers.push(await open(ann));
    await assert.rejects(open(ann), { status: 429 });
    for (const caller of callers) caller.abort();
  });
});
