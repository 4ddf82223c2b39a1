import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  UrlElicitationRequiredError,
  type ElicitRequestFormParams,
  type ElicitRequestURLParams,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import { createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import { newDefinition } from '@troupe/domain';
import { createEverything } from '@troupe/testing/mcp/everything';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createSqliteStore } from '../store/store-sqlite.ts';
import { testAgent, web, type Script } from '../testing.ts';
import { createToolkit } from './toolkit.ts';

/** Servers that want to know something of a person in the middle of a call: the owner is asked, or nobody is. */

const pool = createWorkerPool();
after(() => pool.close());

type Asked = ElicitRequestFormParams | ElicitRequestURLParams;
type Elicit = (asked: Asked) => Promise<ElicitResult>;

async function listening(answer: http.RequestListener): Promise<string> {
  const server = http.createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

/** One of the older revision, with a session and one tool, which does what the test says. */
function older(work: (elicit: Elicit, call: number, meta: unknown) => Promise<unknown>): Promise<string> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  let calls = 0;
  async function open(): Promise<StreamableHTTPServerTransport> {
    const sdk = new Server({ name: 'older', version: '1' }, { capabilities: { tools: {} } });
    sdk.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'book', inputSchema: { type: 'object' as const } }],
    }));
    sdk.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestId: relatedRequestId }) => {
      const elicit: Elicit = (asked) => sdk.elicitInput(asked as ElicitRequestFormParams, { relatedRequestId });
      const said = await work(elicit, ++calls, params._meta);
      return { content: [{ type: 'text', text: JSON.stringify(said) }] };
    });
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await sdk.connect(transport as Parameters<typeof sdk.connect>[0]);
    return transport;
  }
  return listening((request, response) => {
    const id = request.headers['mcp-session-id'] as string | undefined;
    void (async () => {
      const transport = id === undefined ? await open() : sessions.get(id);
      if (transport) await transport.handleRequest(request, response);
      else response.writeHead(404).end();
    })();
  });
}

function newest(): Promise<string> {
  const everything = createEverything();
  return listening((request, response) => {
    void (async () => {
      const chunks = (await request.toArray()) as Buffer[];
      const answered = await everything.fetch(
        new Request(`http://x${request.url}`, {
          method: request.method ?? 'GET',
          headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
          ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
        }),
      );
      response.writeHead(answered.status, Object.fromEntries(answered.headers)).end(await answered.text());
    })();
  });
}

const calling =
  (tool: string): Script =>
  ({ messages }) => {
    const last = messages.at(-1);
    return last?.role === 'tool' ? `told: ${String(last.content)}` : { calls: [{ tool, args: {} }] };
  };

/** An agent with that server, as the platform wakes it; woken again it has the same log. */
async function awake(
  url: string,
  tool: string,
  { traced = false, ...more }: { approvals?: Record<string, 'deny' | 'ask'>; traced?: boolean } = {},
) {
  const store = createSqliteStore({ file: ':memory:', agentId: 'agent' });
  await store.saveDefinition(
    newDefinition({ name: 'Ada', tools: [], ...more, mcpServers: [{ name: 'hotel', url, tools: [tool] }] }),
  );
  const wake = async () => {
    const outbound = createOutbound({ allowLoopback: true });
    const sandbox = createSandbox({ bwrap: '/nowhere' });
    const shared = { store, workspaceRoot: '/nowhere', sandbox, outbound, log: silentLog, pool };
    const toolkit = createToolkit({ ...shared, owner: 'user' });
    const close = async () => {
      await toolkit.close();
      await outbound.close();
    };
    const script = calling(`hotel_${tool}`);
    const made = await testAgent({ store, script, tools: toolkit.tools, onSleep: close, traced });
    after(() => made.agent.sleep());
    return made;
  };
  return { wake, ...(await wake()) };
}

type World = Awaited<ReturnType<typeof awake>>;

async function question({ store }: Pick<World, 'store'>) {
  const pending = await store.pendingApprovals();
  assert.equal(pending.length, 1);
  assert.ok(pending[0]?.question);
  return { approvalId: pending[0].approvalId, ...pending[0].question };
}

async function asked(world: World, content = 'go') {
  const first = await world.agent.ask({ to: web, content });
  assert.equal(first.outcome, 'waiting', first.reply);
  return { sessionId: first.sessionId, ...(await question(world)) };
}

/** What the model said in the end, once nothing is waited for. */
async function end({ store }: Pick<World, 'store'>, sessionId: string): Promise<string> {
  while ((await store.session(sessionId))?.status !== 'idle') await delay(5);
  assert.deepEqual(await store.pendingApprovals(), []);
  const events = await store.events(sessionId, { after: 0, limit: 100 });
  return events.findLast((event) => event.type === 'assistant')!.content;
}

/** The next question of the same call. */
async function further(world: World, before: string) {
  for (;;) {
    const [pending] = await world.store.pendingApprovals();
    if (pending && pending.approvalId !== before) return question(world);
    await delay(5);
  }
}

const form = (properties: object, required: string[] = []): ElicitRequestFormParams =>
  ({ message: 'Which room?', requestedSchema: { type: 'object', properties, required } }) as ElicitRequestFormParams;
const ROOM = form({ room: { type: 'string', enum: ['front', 'back'] } }, ['room']);
const accepted = (content: object) => `told: ${JSON.stringify({ action: 'accept', content })}`;

describe('a server of the newest revision that asks', () => {
  test('waits for the owner, whose answer it gets', async () => {
    const world = await awake(await newest(), 'test_input_required_result_elicitation');
    const { sessionId, approvalId, title, message } = await asked(world);
    assert.deepEqual([title, message], ['hotel asks', 'What is your name?\n\n- name (needed)']);
    await world.agent.decide(approvalId, true, 'owner', 'Ada');
    assert.equal(await end(world, sessionId), 'told: Hello, Ada!');
  });

  test('may ask more than once in a call', async () => {
    const world = await awake(await newest(), 'test_input_required_result_multi_round');
    const first = await asked(world);
    await world.agent.decide(first.approvalId, true, 'owner', 'Ada');
    const second = await further(world, first.approvalId);
    assert.match(second.message, /favorite color/);
    await world.agent.decide(second.approvalId, true, 'owner', 'red');
    assert.equal(await end(world, first.sessionId), 'told: Both steps are done.');
  });

  test('is asked again by an agent that slept meanwhile, and gets the answer', async () => {
    const world = await awake(await newest(), 'test_input_required_result_elicitation');
    const { sessionId, approvalId } = await asked(world);
    await world.agent.sleep();
    const { agent } = await world.wake();
    await agent.decide(approvalId, true, 'owner', 'Ada');
    assert.equal(await end(world, sessionId), 'told: Hello, Ada!');
  });
});

describe('a server of the older revision that asks', () => {
  test('gets its answer in the same call, by what can be chosen', async () => {
    let calls = 0;
    const world = await awake(await older((elicit, call) => ((calls = call), elicit(ROOM))), 'book');
    const { sessionId, approvalId, options } = await asked(world);
    assert.deepEqual(options, ['front', 'back']);
    await world.agent.decide(approvalId, true, 'owner', 'Back');
    assert.equal(await end(world, sessionId), accepted({ room: 'back' }));
    assert.equal(calls, 1);
  });

  test('is told when the owner does not want to answer', async () => {
    const world = await awake(await older((elicit) => elicit(ROOM)), 'book');
    const { sessionId, approvalId } = await asked(world);
    await world.agent.decide(approvalId, false, 'owner');
    assert.equal(await end(world, sessionId), 'told: {"action":"decline"}');
  });

  test('is called again when it did not wait, and gets the answer that came late', async () => {
    const gaveUp = Promise.withResolvers<void>();
    const work = async (elicit: Elicit, call: number) => {
      if (call > 1) return elicit(ROOM);
      void elicit(ROOM).catch(() => undefined);
      await gaveUp.promise;
      throw new Error('nobody answered');
    };
    const world = await awake(await older(work), 'book');
    const { sessionId, approvalId } = await asked(world);
    gaveUp.resolve();
    await delay(200);
    await world.agent.decide(approvalId, true, 'owner', 'front');
    assert.equal(await end(world, sessionId), accepted({ room: 'front' }));
  });

  test('asks again what was answered wrongly, and says why', async () => {
    const world = await awake(await older((elicit) => elicit(ROOM)), 'book');
    const { sessionId, approvalId } = await asked(world);
    await world.agent.decide(approvalId, true, 'owner', 'the roof');
    const again = await further(world, approvalId);
    assert.match(again.message, /^room: “the roof” is not one of front, back\.\n\nWhich room\?/);
    await world.agent.decide(again.approvalId, true, 'owner', 'front');
    assert.equal(await end(world, sessionId), accepted({ room: 'front' }));
  });

  test('is declined when somebody says something else instead; the agent reads that', async () => {
    const world = await awake(await older((elicit) => elicit(ROOM)), 'book');
    await asked(world);
    const { reply } = await world.agent.ask({ to: web, content: 'take the front one' });
    assert.match(reply, /Which room/, 'this script calls anew for what was said');
    const { messages } = world.model.requests.at(-1)!;
    assert.deepEqual(
      messages.slice(-2).map(({ role, content }) => [role, content]),
      [
        ['tool', '{"action":"decline"}'],
        ['user', 'take the front one'],
      ],
    );
  });

  test('is declined at once where the owner wants no questions', async () => {
    const approvals = { user_prompt: 'deny' as const };
    const world = await awake(await older((elicit) => elicit(ROOM)), 'book', { approvals });
    const { reply } = await world.agent.ask({ to: web, content: 'go' });
    assert.equal(reply, 'told: {"action":"decline"}');
  });

  test('waits for consent to the call first, and then for the answer', async () => {
    const world = await awake(await older((elicit) => elicit(ROOM)), 'book', { approvals: { hotel: 'ask' } });
    await world.agent.ask({ to: web, content: 'go' });
    const [consent] = await world.store.pendingApprovals();
    assert.equal(consent?.question, undefined);
    await world.agent.decide(consent!.approvalId, true, 'owner');
    const { approvalId } = await further(world, consent!.approvalId);
    await world.agent.decide(approvalId, true, 'owner', 'front');
    assert.equal(await end(world, consent!.sessionId), accepted({ room: 'front' }));
  });

  test('ends with its run', async () => {
    const heard = Promise.withResolvers<unknown>();
    const work = async (elicit: Elicit) => (heard.resolve(await elicit(ROOM).catch(() => 'gone')), 'over');
    const world = await awake(await older(work), 'book');
    const { sessionId } = await asked(world);
    assert.equal(await world.agent.cancel(sessionId, 'owner'), true);
    assert.ok(await heard.promise);
    while ((await world.store.session(sessionId))?.status !== 'idle') await delay(5);
    assert.deepEqual(await world.store.pendingApprovals(), []);
  });
});

test('a server is told which trace a call belongs to, where there is one', async () => {
  const work = async (_: Elicit, __: number, meta: unknown) =>
    (meta as { traceparent?: string })?.traceparent ?? 'none';
  const url = await older(work);
  const told = async (traced: boolean) =>
    (await (await awake(url, 'book', { traced })).agent.ask({ to: web, content: 'go' })).reply;
  assert.match(await told(true), /^told: "00-[0-9a-f]{32}-[0-9a-f]{16}-01"$/);
  assert.equal(await told(false), 'told: "none"');
});

describe('what a server may ask', () => {
  test('an address to go to, which is shown and never opened', async () => {
    const page = { mode: 'url' as const, message: 'Pay.', elicitationId: 'e', url: 'https://pay.example/7' };
    const world = await awake(await older((elicit) => elicit(page)), 'book');
    const { sessionId, approvalId, message, options } = await asked(world);
    assert.match(message, /^Pay\.\n\nhttps:\/\/pay\.example\/7\n\nOpen this address only if you trust pay\.example\./);
    assert.deepEqual(options, ['Done']);
    await world.agent.decide(approvalId, true, 'owner', 'Done');
    assert.equal(await end(world, sessionId), 'told: {"action":"accept"}');
  });

  test('an address that must be gone to before the call, which is then made', async () => {
    const page = { mode: 'url' as const, message: 'Sign in.', elicitationId: 'e', url: 'https://id.example/' };
    const work = async (_: Elicit, call: number) => {
      if (call === 1) throw new UrlElicitationRequiredError([page]);
      return 'booked';
    };
    const world = await awake(await older(work), 'book');
    const { sessionId, approvalId, message } = await asked(world);
    assert.match(message, /^Sign in\.\n\nhttps:\/\/id\.example\//);
    await world.agent.decide(approvalId, true, 'owner', 'Done');
    assert.equal(await end(world, sessionId), 'told: "booked"');
  });

  const declined: [string, Asked][] = [
    ['an address without encryption', { mode: 'url', message: 'Pay.', elicitationId: 'e', url: 'http://pay.example/' }],
    [
      'an address with a password',
      { mode: 'url', message: 'Pay.', elicitationId: 'e', url: 'https://a:b@pay.example/' },
    ],
    [
      'a form of a hundred fields',
      form(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, { type: 'string' }]))),
    ],
    ['a form of a million letters', form({ a: { type: 'string', description: 'x'.repeat(1_000_000) } })],
  ];
  for (const [what, given] of declined)
    test(`not ${what}`, async () => {
      const world = await awake(await older((elicit) => elicit(given)), 'book');
      const { reply } = await world.agent.ask({ to: web, content: 'go' });
      assert.equal(reply, 'told: {"action":"decline"}');
    });

  test('not for ever: after ten times it is left without an answer', async () => {
    const work = async (elicit: Elicit) => {
      const actions: string[] = [];
      while (actions.at(-1) !== 'decline' && actions.length < 50) actions.push((await elicit(ROOM)).action);
      return actions.length;
    };
    const world = await awake(await older(work), 'book');
    let { approvalId, sessionId } = await asked(world);
    for (let count = 1; count < 10; count += 1) {
      await world.agent.decide(approvalId, true, 'owner', 'front');
      ({ approvalId } = await further(world, approvalId));
    }
    await world.agent.decide(approvalId, true, 'owner', 'front');
    assert.equal(await end(world, sessionId), 'told: 11');
  });
});
