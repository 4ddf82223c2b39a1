import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { sql } from 'kysely';
import { replyChat } from '@troupe/ai';
import { addUser } from '@troupe/testing/services/users';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** Anthropic’s own client for Managed Agents, on the platform’s agents. */

let world: World;
let client: Anthropic;
let other: Anthropic;
before(async () => {
  world = await startWorld();
  const baseURL = world.services.backend;
  client = new Anthropic({ baseURL, apiKey: world.user.key, maxRetries: 0 });
  const { key } = await addUser(world.services.runtime, { plan: 'network' });
  other = new Anthropic({ baseURL, apiKey: key, maxRetries: 0 });
});
beforeEach(() => {
  reset(world);
  world.openrouter.answer((request, response) => {
    const last = (request.body['messages'] as { role: string; content: string }[]).at(-1)!;
    if (last.role === 'tool') return replyChat(request, response, { content: `It is ${last.content}` });
    if (last.content === 'hang') return;
    const call = /^call (\w+) (.*)$/s.exec(last.content);
    if (!call) return replyChat(request, response, { content: `heard ${last.content}` });
    replyChat(request, response, { content: null, toolCalls: [{ id: 'c', name: call[1]!, arguments: call[2]! }] });
  });
});
after(() => world.stop());

const MODEL = 'openai/gpt-4o-mini';
const custom = {
  type: 'custom' as const,
  name: 'weather',
  description: 'The weather',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};
const says = (text: string) => ({ type: 'user.message' as const, content: [{ type: 'text' as const, text }] });

async function session(more: object = {}) {
  const agent = await client.beta.agents.create({ name: 'Coder', model: MODEL, ...more });
  const environment = await client.beta.environments.create({ name: 'here' });
  return client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
}

// oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
type Any = any;

/** Says it, and gives what happens until the session is idle. */
async function until(id: string, send: () => Promise<unknown>): Promise<Any[]> {
  const stream = await client.beta.sessions.events.stream(id);
  const sending = send();
  const events: Any[] = [];
  for await (const event of stream) {
    events.push(event);
    if (event.type === 'session.status_idle') break;
  }
  await sending;
  return events;
}
const say = (id: string, text: string) =>
  until(id, () => client.beta.sessions.events.send(id, { events: [says(text)] }));
const typesOf = (events: readonly Any[]): string[] => events.map(({ type }) => type as string);

describe('agents', () => {
  it('are made, found, changed in versions, listed and archived', async () => {
    const made = await client.beta.agents.create({
      name: 'Ada',
      model: { id: MODEL },
      system: 'Be brief.',
      description: 'Counts',
      metadata: { team: 'a' },
      tools: [{ type: 'agent_toolset_20260401' }, custom],
    });
    assert.deepEqual(
      [made.type, made.name, made.model.id, made.system, made.description, made.metadata, made.version],
      ['agent', 'Ada', MODEL, 'Be brief.', 'Counts', { team: 'a' }, 1],
    );
    assert.deepEqual(
      made.tools.map(({ type }) => type),
      ['agent_toolset_20260401', 'custom'],
    );
    assert.deepEqual(await client.beta.agents.retrieve(made.id), made);
    const changed = await client.beta.agents.update(made.id, {
      system: 'Be long.',
      name: 'Bea',
      metadata: { team: null, b: 'c' },
      version: made.version,
    });
    assert.deepEqual(
      [changed.name, changed.system, changed.metadata, changed.version],
      ['Bea', 'Be long.', { b: 'c' }, 2],
    );
    await assert.rejects(client.beta.agents.update(made.id, { system: 'x', version: 1 }), { status: 409 });
    assert.equal((await client.beta.agents.retrieve(made.id, { version: 1 })).system, 'Be brief.');
    const versions = [];
    for await (const one of client.beta.agents.versions.list(made.id, { limit: 1 })) versions.push(one.version);
    assert.deepEqual(versions, [2, 1]);
    const ids = async (query: object) => {
      const found = [];
      for await (const one of client.beta.agents.list({ limit: 1, ...query })) found.push(one.id);
      return found;
    };
    assert.ok((await ids({})).includes(made.id));
    assert.ok((await client.beta.agents.archive(made.id)).archived_at);
    assert.ok(!(await ids({})).includes(made.id));
    assert.ok((await ids({ include_archived: true })).includes(made.id));
    const environment = await client.beta.environments.create({ name: 'here' });
    await assert.rejects(client.beta.sessions.create({ agent: made.id, environment_id: environment.id }), {
      status: 400,
      message: /archived/,
    });
  });

  it('that ask for what is not there are refused by name, and nothing is made', async () => {
    const count = async () => (await client.beta.agents.list({ limit: 100 })).data.length;
    const before_ = await count();
    for (const [more, message] of [
      [{ mcp_servers: [{ type: 'url', name: 'a b', url: 'https://a.test' }] }, /mcp_servers/],
      [{ skills: [{ type: 'anthropic', skill_id: 'xlsx' }] }, /skills/],
      [{ model: { id: MODEL, effort: 'high' } }, /effort/],
      [{ tools: [{ type: 'agent_toolset_20260401', configs: [{ name: 'bash', enabled: false }] }] }, /configs/],
      [{ tools: [{ type: 'mcp_toolset', mcp_server_name: 'a' }] }, /tools must have/],
      [{ tools: [{ type: 'bash_20250124' }] }, /tools must be/],
      [{ name: '' }, /name/],
    ] as const)
      await assert.rejects(
        client.beta.agents.create({ name: 'Ada', model: MODEL, ...(more as object) }),
        (error: InstanceType<typeof Anthropic.APIError>) => {
          assert.equal(error.status, 400);
          assert.equal((error.error as Any).error.type, 'invalid_request_error');
          return message.test(error.message);
        },
        String(message),
      );
    assert.equal(await count(), before_);
  });
});

describe('sessions', () => {
  it('run, tell what happens as it happens, and list it in pages', async () => {
    const { id, status } = await session({ tools: [{ type: 'agent_toolset_20260401' }] });
    assert.equal(status, 'idle');
    const events = await say(id, 'hello');
    assert.deepEqual(typesOf(events), [
      'user.message',
      'session.status_running',
      'span.model_request_start',
      'span.model_request_end',
      'agent.message',
      'session.status_idle',
    ]);
    assert.equal(events[4].content[0].text, 'heard hello');
    assert.ok(events[3].model_usage.output_tokens > 0);
    assert.equal(events.at(-1).stop_reason.type, 'end_turn');
    const second = await say(id, 'call think {"thought":"hm"}');
    assert.ok(typesOf(second).includes('agent.tool_result'));
    // Read by threes it is the same, in order, each once.
    const listed: Any[] = [];
    for await (const event of client.beta.sessions.events.list(id, { limit: 3 })) listed.push(event);
    // When it was is told as it is stored, a moment later than it is heard.
    const bare = (list: readonly Any[]) => list.map((event) => ({ ...(event as object), processed_at: '' }));
    assert.deepEqual(bare(listed), bare([...events, ...second]));
    const found = await client.beta.sessions.retrieve(id);
    assert.deepEqual([found.status, found.agent.name], ['idle', 'Coder']);
  });

  it('are not read from end to end for a page that nobody was given', async () => {
    const { id } = await session();
    await say(id, 'hello');
    const { system } = world.services.runtime.db;
    await sql`insert into agent_events (session_id, seq, agent_id, user_id, data)
      select e.session_id, e.seq + n, e.agent_id, e.user_id, jsonb_build_object('type', 'user', 'content', 'x')
      from managed_sessions m join agent_events e on e.session_id = m.conversation, generate_series(1, 21000) n
      where m.id = ${id} and e.seq = (select max(seq) from agent_events where session_id = m.conversation)`.execute(
      system,
    );
    await sql`update agent_sessions s set last_seq = s.last_seq + 21000 from managed_sessions m
      where m.id = ${id} and s.id = m.conversation`.execute(system);
    const far = client.beta.sessions.events.list(id, { page: '900000000.0.0' });
    await assert.rejects(async () => far, { status: 400, message: /page must be one that was given/ });
    const { data } = await client.beta.sessions.events.list(id, { limit: 3, page: '15000.14990.0' });
    assert.equal(data.length, 3);
  });

  it('call custom tools back', async () => {
    const { id } = await session({ tools: [custom] });
    const first = await say(id, 'call weather {"city":"Rome"}');
    const use = first.find(({ type }) => type === 'agent.custom_tool_use');
    assert.deepEqual([use.name, use.input], ['weather', { city: 'Rome' }]);
    assert.deepEqual(first.at(-1).stop_reason, { type: 'requires_action', event_ids: [use.id] });
    const result = {
      type: 'user.custom_tool_result' as const,
      custom_tool_use_id: use.id as string,
      content: [{ type: 'text' as const, text: 'sunny' }],
    };
    const second = await until(id, () => client.beta.sessions.events.send(id, { events: [result] }));
    assert.equal(second.find(({ type }) => type === 'agent.message').content[0].text, 'It is sunny');
    await assert.rejects(client.beta.sessions.events.send(id, { events: [result] }), {
      status: 400,
      message: /No run of this agent waits/,
    });
  });

  for (const result of ['allow', 'deny'] as const)
    it(`ask before they act where that is wanted: ${result}`, async () => {
      const policy = { permission_policy: { type: 'always_ask' as const } };
      const { id } = await session({ tools: [{ type: 'agent_toolset_20260401', default_config: policy }] });
      const first = await say(id, 'call think {"thought":"hm"}');
      const use = first.find(({ type }) => type === 'agent.tool_use');
      assert.deepEqual(first.at(-1).stop_reason, { type: 'requires_action', event_ids: [use.id] });
      const events = [{ type: 'user.tool_confirmation' as const, tool_use_id: use.id as string, result }];
      const second = await until(id, () => client.beta.sessions.events.send(id, { events }));
      assert.equal(second[0].type, 'user.tool_confirmation');
      assert.equal(second.find(({ type }) => type === 'agent.tool_result').is_error, result === 'deny');
      assert.equal(second.at(-1).stop_reason.type, 'end_turn');
    });

  it('are interrupted', async () => {
    const { id } = await session();
    const events = await until(id, async () => {
      await client.beta.sessions.events.send(id, { events: [says('hang')] });
      while (world.openrouter.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      assert.equal((await client.beta.sessions.retrieve(id)).status, 'running');
      await client.beta.sessions.events.send(id, { events: [{ type: 'user.interrupt' }] });
    });
    assert.ok(typesOf(events).includes('user.interrupt'));
    assert.equal((await client.beta.sessions.retrieve(id)).status, 'idle');
  });

  it('say that the model thought, and nothing of what', async () => {
    world.openrouter.answer((_request, response) => {
      const usage = { prompt_tokens: 9, completion_tokens: 8, completion_tokens_details: { reasoning_tokens: 5 } };
      const pieces = [
        { choices: [{ delta: { reasoning: 'secret thoughts' } }] },
        { choices: [{ delta: { content: 'Four' }, finish_reason: 'stop' }] },
        { choices: [], usage: { ...usage, total_tokens: 17 } },
      ];
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of pieces) response.write(`data: ${JSON.stringify(piece)}\n\n`);
      response.end('data: [DONE]\n\n');
    });
    const { id } = await session();
    const events = await say(id, 'Two and two?');
    const types = typesOf(events);
    assert.ok(types.indexOf('agent.thinking') > 0, types.join());
    assert.ok(types.indexOf('agent.thinking') < types.indexOf('agent.message'));
    assert.ok(!JSON.stringify(events).includes('secret thoughts'));
  });

  it('take pictures and documents, by their bytes or from the files that are kept', async () => {
    const { id } = await session();
    const png = `iVBORw0KGgo${'A'.repeat(80)}`;
    const stored = await client.beta.files.upload({ file: await toFile(Buffer.from('Kept words.'), 'kept.txt') });
    const content: Any[] = [
      { type: 'text', text: 'Look' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
      { type: 'document', title: 'plan.txt', source: { type: 'text', media_type: 'text/plain', data: 'The plan.' } },
      { type: 'document', source: { type: 'file', file_id: stored.id } },
    ];
    const send = (blocks: Any[]) =>
      client.beta.sessions.events.send(id, { events: [{ type: 'user.message', content: blocks }] });
    await until(id, () => send(content));
    const shown = JSON.stringify(world.openrouter.requests.at(-1)!.body['messages']);
    for (const wanted of ['Look', 'data:image/png;base64,iVBOR', 'uploads/plan.txt', 'The plan.', 'Kept words.'])
      assert.ok(shown.includes(wanted), wanted);
    for (const [block, status] of [
      [{ type: 'image', source: { type: 'url', url: 'https://pictures.example/a.png' } }, 400],
      [{ type: 'image', source: { type: 'file', file_id: 'file_of_nobody' } }, 404],
      [{ type: 'search_result' }, 400],
    ] as const)
      await assert.rejects(send([block]), { status });
  });

  it('say when the model is dead', async () => {
    world.openrouter.answer((_request, response) => void response.writeHead(400).end('{"error":{"message":"no"}}'));
    const { id } = await session();
    const events = await say(id, 'hello');
    assert.ok(typesOf(events).includes('session.error'));
    assert.equal(events.at(-1).stop_reason.type, 'retries_exhausted');
  });

  it('begin with an event, are named, listed, archived and deleted', async () => {
    const agent = await client.beta.agents.create({ name: 'Coder', model: MODEL });
    const environment = await client.beta.environments.create({ name: 'here' });
    const made = await client.beta.sessions.create({
      agent: agent.id,
      environment_id: environment.id,
      title: 'One',
      initial_events: [says('first')],
    });
    const named = await client.beta.sessions.update(made.id, { title: 'Two', metadata: { a: 'b' } });
    assert.deepEqual([named.title, named.metadata], ['Two', { a: 'b' }]);
    const ids = [];
    for await (const one of client.beta.sessions.list({ agent_id: agent.id })) ids.push(one.id);
    assert.deepEqual(ids, [made.id]);
    assert.ok((await client.beta.sessions.archive(made.id)).archived_at);
    await assert.rejects(client.beta.sessions.events.send(made.id, { events: [says('more')] }), {
      status: 400,
      message: /archived/,
    });
    assert.deepEqual((await client.beta.sessions.list({ agent_id: agent.id })).data, []);
    assert.equal((await client.beta.sessions.delete(made.id)).type, 'session_deleted');
    await assert.rejects(client.beta.sessions.retrieve(made.id), { status: 404 });
  });

  it('of others are not there', async () => {
    const { id, agent, environment_id } = await session();
    await say(id, 'secret');
    const asks: (() => Promise<unknown>)[] = [
      async () => other.beta.sessions.retrieve(id),
      async () => other.beta.sessions.events.list(id),
      async () => other.beta.sessions.events.stream(id),
      async () => other.beta.sessions.events.send(id, { events: [says('hi')] }),
      async () => other.beta.sessions.update(id, { title: 'x' }),
      async () => other.beta.sessions.archive(id),
      async () => other.beta.sessions.delete(id),
      async () => other.beta.agents.retrieve(agent.id),
      async () => other.beta.agents.update(agent.id, { system: 'x' }),
      async () => other.beta.agents.archive(agent.id),
      async () => other.beta.agents.versions.list(agent.id),
      async () => other.beta.environments.retrieve(environment_id),
      async () => other.beta.environments.delete(environment_id),
      async () => other.beta.sessions.create({ agent: agent.id, environment_id }),
    ];
    for (const ask of asks) await assert.rejects(ask(), { status: 404 }, String(ask));
    const foreign = await other.beta.agents.create({ name: 'Own', model: MODEL });
    await assert.rejects(other.beta.sessions.create({ agent: foreign.id, environment_id }), { status: 404 });
  });
});

describe('environments', () => {
  it('are made, changed, listed, archived and deleted; what they cannot keep is refused', async () => {
    const made = await client.beta.environments.create({
      name: 'box',
      config: { type: 'cloud', networking: { type: 'unrestricted' } },
    });
    assert.equal((await client.beta.environments.update(made.id, { name: 'crate' })).name, 'crate');
    const names = [];
    for await (const { name } of client.beta.environments.list()) names.push(name);
    assert.ok(names.includes('crate'));
    assert.ok((await client.beta.environments.archive(made.id)).archived_at);
    assert.equal((await client.beta.environments.delete(made.id)).type, 'environment_deleted');
    await assert.rejects(client.beta.environments.retrieve(made.id), { status: 404 });
    for (const config of [
      { type: 'cloud' as const, networking: { type: 'limited' as const, allowed_hosts: ['a.test'] } },
      { type: 'cloud' as const, packages: { pip: ['numpy'] } },
      { type: 'self_hosted' as const },
    ])
      await assert.rejects(client.beta.environments.create({ name: 'x', config: config as never }), {
        status: 400,
        message: /config/,
      });
  });
});
