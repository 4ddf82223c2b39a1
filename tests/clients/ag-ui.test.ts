import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { HttpAgent, type BaseEvent, type Message, type RunAgentParameters } from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { replyChat } from '@troupe/ai';
import { send } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** AG-UI’s own client against an agent. */

let world: World;
let url: string;
let token: string;
let agentId: string;
before(async () => {
  world = await startWorld();
  const headers = { authorization: `Bearer ${world.user.key}` };
  const made = await send(
    `${world.services.web}/api/agents/provision`,
    'POST',
    { name: 'Ada', model: 'openai/gpt-4o-mini' },
    headers,
  );
  agentId = made.body.agent.id as string;
  const own = `${world.services.backend}/api/runtime/proxy/${agentId}`;
  url = `${own}/ag-ui`;
  token = (await send(`${world.services.web}/api/agents/${agentId}/token`, 'GET', undefined, headers)).body.token;
});

interface Asked {
  role: string;
  content: string;
}
const messagesOf = (request: { body: Record<string, unknown> }) => request.body['messages'] as Asked[];
beforeEach(() => {
  reset(world);
  world.openrouter.answer((request, response) => {
    const messages = messagesOf(request);
    const last = messages.at(-1)!;
    if (last.role === 'tool') return replyChat(request, response, { content: `It is ${last.content}` });
    const call = /^call (\w+) (.*)$/s.exec(last.content);
    if (!call) return replyChat(request, response, { content: `heard ${last.content}` });
    replyChat(request, response, {
      content: null,
      toolCalls: [{ id: 'c', name: call[1]!, arguments: call[2]! }],
    });
  });
});
after(() => world.stop());

const page = (key = world.user.key, more: object = {}) =>
  new HttpAgent({ url, headers: { authorization: `Bearer ${key}` }, threadId: crypto.randomUUID(), ...more });
const said = (content: string): Message => ({ id: crypto.randomUUID(), role: 'user', content });

/** Every event is checked by the public schema as well as by the client. */
async function run(agent: HttpAgent, parameters: RunAgentParameters = {}) {
  const events: BaseEvent[] = [];
  const result = await agent.runAgent(parameters, {
    onEvent: ({ event }) => {
      assert.ok(EventSchemas.safeParse(event).success, JSON.stringify(event));
      events.push(event);
    },
  });
  return { events, types: events.map(({ type }) => type as string), result };
}

const weather = {
  name: 'weather',
  description: 'The weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

describe('a page', () => {
  it('runs the agent, word by word, and goes on in its thread', async () => {
    const agent = page();
    agent.addMessage(said('hello'));
    const { types, events } = await run(agent);
    assert.equal(types[0], 'RUN_STARTED');
    assert.deepEqual(
      [...new Set(types.slice(1, -1))],
      ['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
    );
    const last = events.at(-1) as BaseEvent & { outcome: { type: string }; usage: { outputTokens: number }[] };
    assert.deepEqual([last.type, last.outcome.type], ['RUN_FINISHED', 'success']);
    assert.ok(last.usage[0]!.outputTokens > 0);
    assert.equal(agent.messages.at(-1)?.content, 'heard hello');
    agent.addMessage(said('again'));
    await run(agent);
    // The agent has the first turn itself: what the page sent of it is not told twice.
    const asked = messagesOf(world.openrouter.requests.at(-1)!).filter(({ role }) => role !== 'system');
    assert.deepEqual(
      asked.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
  });

  it('brings what was said elsewhere, and what it shows', async () => {
    const agent = page(undefined, { initialState: { colour: 'red' } });
    agent.setMessages([said('before'), { id: 'a', role: 'assistant', content: 'indeed' }, said('now')]);
    const { types } = await run(agent, { context: [{ description: 'Name of the user', value: 'Bea' }] });
    assert.equal(types[1], 'STATE_SNAPSHOT');
    const asked = JSON.stringify(messagesOf(world.openrouter.requests.at(-1)!));
    for (const words of ['before', 'indeed', 'Name of the user: Bea', 'colour'])
      assert.ok(asked.includes(words), words);
  });

  it('sends pictures along', async () => {
    const agent = page();
    const png = `iVBORw0KGgo${'A'.repeat(80)}`;
    const source = { type: 'data' as const, value: png, mimeType: 'image/png' };
    const content = [
      { type: 'text' as const, text: 'Look' },
      { type: 'image' as const, source },
    ];
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
    const { types } = await run(agent);
    assert.equal(types.at(-1), 'RUN_FINISHED');
    const last = messagesOf(world.openrouter.requests.at(-1)!).at(-1)!;
    assert.match(JSON.stringify(last.content), /Look.*attached picture: uploads.*data:image\/png;base64,iVBOR/);
  });

  it('has its tools called back', async () => {
    const agent = page();
    agent.addMessage(said('call weather {"city":"Rome"}'));
    const { types, events } = await run(agent, { tools: [weather] });
    assert.deepEqual(types, ['RUN_STARTED', 'TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'RUN_FINISHED']);
    const { toolCallId } = events[1] as BaseEvent & { toolCallId: string };
    agent.addMessage({ id: crypto.randomUUID(), role: 'tool', toolCallId, content: 'sunny' });
    await run(agent, { tools: [weather] });
    assert.equal(agent.messages.at(-1)?.content, 'It is sunny');
  });

  it('sees the agent’s own tools and what came of them', async () => {
    const agent = page();
    agent.addMessage(said('call think {"thought":"hm"}'));
    const { types } = await run(agent);
    assert.ok(types.includes('TOOL_CALL_RESULT'), types.join());
    assert.equal(types.at(-1), 'RUN_FINISHED');
  });

  it('has its state changed by the agent', async () => {
    const agent = page(undefined, { initialState: { colour: 'red', old: 1 } });
    agent.addMessage(said('call update_state {"changes":{"colour":"blue","a/b":[1],"old":null,"none":null}}'));
    const { types } = await run(agent);
    assert.ok(types.includes('STATE_DELTA'), types.join());
    assert.deepEqual(agent.state, { colour: 'blue', 'a/b': [1] });
    assert.equal(agent.messages.at(-1)?.content, 'It is The page shows it.');
  });

  it('is shown the conversation again when it brings nothing new', async () => {
    const agent = page();
    agent.addMessage(said('hello'));
    await run(agent);
    const second = page(undefined, { threadId: agent.threadId });
    const { types } = await run(second);
    assert.deepEqual(types, ['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    assert.deepEqual(
      second.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'hello'],
        ['assistant', 'heard hello'],
      ],
    );
  });

  it('that runs the same run twice has it done once', async () => {
    const agent = page();
    agent.addMessage(said('hello'));
    const first = await run(agent, { runId: 'same' });
    const again = page(undefined, { threadId: agent.threadId, initialMessages: [agent.messages[0]!] });
    const second = await run(again, { runId: 'same' });
    assert.equal(world.openrouter.requests.length, 1);
    assert.deepEqual([...new Set(second.types)], [...new Set(first.types)]);
    assert.equal(again.messages.at(-1)?.content, 'heard hello');
  });

  it('is told when the model fails', async () => {
    world.openrouter.answer((_request, response) => void response.writeHead(400).end('{"error":{"message":"no"}}'));
    const agent = page();
    agent.addMessage(said('hello'));
    const failed: string[] = [];
    await agent
      .runAgent({}, { onRunErrorEvent: ({ event }) => void failed.push(event.message) })
      .catch((error: unknown) => void failed.push(String(error)));
    assert.match(failed.join(), /refused|no/);
  });

  it('of somebody else gets nothing, nor does another key of the owner’s see the thread', async () => {
    const agent = page();
    agent.addMessage(said('secret'));
    await run(agent);
    const stranger = page((await addUser(world.services.runtime, { plan: 'network' })).key, {
      threadId: agent.threadId,
    });
    await assert.rejects(stranger.runAgent(), /401/);
    const owner = page(token, { threadId: agent.threadId });
    await run(owner);
    assert.deepEqual(owner.messages, []);
  });

  it('is refused what cannot be, with a word about it', async () => {
    const ask = (body: unknown) => send(url, 'POST', body, { authorization: `Bearer ${world.user.key}` });
    const base = { threadId: 't', runId: 'r', messages: [], tools: [], context: [] };
    for (const [body, status, error] of [
      [{}, 400, /threadId/],
      [{ ...base, messages: [{ role: 'bishop', content: 'x' }] }, 400, /role/],
      [
        {
          ...base,
          messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', value: 'https://a' } }] }],
        },
        400,
        /come inside of a request/,
      ],
      [
        { ...base, messages: [{ role: 'user', content: [{ type: 'hologram' }] }] },
        400,
        /leave out the part of type hologram/,
      ],
      [{ ...base, messages: [said('x'.repeat(300_000))] }, 413, /256 KB at most/],
      [{ ...base, messages: [said('x'.repeat(1_100_000))] }, 413, /too large/i],
      [{ ...base, resume: [{ interruptId: 'x', status: 'resolved' }] }, 403, /owner/],
    ] as const) {
      const reply = await ask(body);
      assert.equal(reply.status, status, JSON.stringify(reply.body));
      assert.match(reply.body.error, error);
    }
  });
});

describe('what a model thinks', () => {
  it('is shown before it speaks, and is no part of what is kept', async () => {
    world.openrouter.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const tell = (delta: object, more: object = {}) =>
        response.write(
          `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`,
        );
      tell({ role: 'assistant', reasoning_content: 'Let me ' });
      tell({ reasoning_content: 'see.' });
      tell({ content: 'It is ' });
      // Some think again in the middle of it.
      tell({ reasoning_content: 'Surely.' });
      tell({ content: 'four.' });
      tell({}, { finish_reason: 'stop' });
      response.end('data: [DONE]\n\n');
    });
    const agent = page();
    agent.addMessage(said('two and two'));
    const { types, events } = await run(agent);
    assert.deepEqual(types.slice(1, 8), [
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      'TEXT_MESSAGE_START',
    ]);
    const thought = (events as (BaseEvent & { delta?: string })[])
      .filter(({ type }) => (type as string) === 'REASONING_MESSAGE_CONTENT')
      .map(({ delta }) => delta);
    assert.equal(thought.join(''), 'Let me see.Surely.');
    assert.deepEqual(
      agent.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content),
      ['It is four.'],
    );
    // The page sends its thoughts along: they are nobody's words.
    reset(world);
    agent.addMessage(said('and three?'));
    await run(agent);
    assert.doesNotMatch(JSON.stringify(world.openrouter.requests.at(-1)!.body), /Surely|Let me see/);
  });
});

describe('a page of another origin', () => {
  const PAGE = 'https://app.example.org';
  const ask = (key: string, origin: string) =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', origin },
      body: JSON.stringify({ threadId: crypto.randomUUID(), runId: 'r', messages: [said('hello')] }),
    });

  it('asks first, and runs the agent with a key that names it', async () => {
    const question = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin: PAGE,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    assert.deepEqual([question.status, question.headers.get('access-control-allow-origin')], [204, PAGE]);
    assert.equal(question.headers.get('access-control-allow-headers'), 'authorization,content-type');
    const { runtime } = world.services;
    const set = (origins: string[]) =>
      runtime.db.system.updateTable('api_keys').set({ origins }).where('user_id', '=', world.user.id).execute();
    await set([PAGE]);
    const allowed = await ask(world.user.key, PAGE);
    assert.deepEqual([allowed.status, allowed.headers.get('access-control-allow-origin')], [200, PAGE]);
    assert.match(await allowed.text(), /heard hello/);
    world.openrouter.requests.length = 0;
    for (const key of [world.user.key, token]) {
      const refused = await ask(key, 'https://evil.example.org');
      assert.equal(refused.status, 403);
      // The page can read why.
      assert.equal(refused.headers.get('access-control-allow-origin'), 'https://evil.example.org');
      assert.match(await refused.text(), /This key is not for pages/);
    }
    const nobody = await ask('sk_none', PAGE);
    assert.deepEqual([nobody.status, nobody.headers.get('access-control-allow-origin')], [401, PAGE]);
    assert.equal(world.openrouter.requests.length, 0);
    await set([]);
    const elsewhere = await fetch(url.replace('/ag-ui', '/sessions'), {
      method: 'OPTIONS',
      headers: { origin: PAGE, 'access-control-request-method': 'GET' },
    });
    assert.equal(elsewhere.headers.get('access-control-allow-origin'), null);
  });
});

describe('what needs an approval', () => {
  before(async () => {
    const headers = { authorization: `Bearer ${token}` };
    const at = `${world.services.backend}/api/runtime/proxy/${agentId}/definition`;
    const { body } = await send(at, 'GET', undefined, headers);
    const definition = { ...body.definition, approvals: { think: 'ask' } };
    const { status, body: told } = await send(at, 'PUT', definition, headers);
    assert.equal(status, 200, JSON.stringify(told));
  });

  for (const approved of [true, false])
    it(`interrupts the run, and goes on when it is ${approved ? 'approved' : 'refused'}`, async () => {
      const agent = page(token);
      agent.addMessage(said('call think {"thought":"hm"}'));
      const { events } = await run(agent);
      const last = events.at(-1) as BaseEvent & { outcome: { type: string; interrupts: { id: string }[] } };
      assert.equal(last.outcome.type, 'interrupt');
      const interruptId = agent.pendingInterrupts[0]!.id;
      const resume = [{ interruptId, status: 'resolved' as const, payload: { approved } }];
      const { types } = await run(agent, { resume });
      assert.equal(types.at(-1), 'RUN_FINISHED');
      assert.ok(types.includes('TOOL_CALL_RESULT'));
      assert.match(String(agent.messages.at(-1)?.content), approved ? /^It is/ : /^It is .*(refus|denied|not)/is);
      const late = await send(
        url,
        'POST',
        { threadId: agent.threadId, runId: 'late', messages: [], resume },
        { authorization: `Bearer ${token}` },
      );
      assert.deepEqual([late.status, late.body], [404, { error: 'Approval not found' }]);
    });
});
