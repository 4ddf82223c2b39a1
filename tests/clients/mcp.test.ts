import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { replyChat } from '@troupe/ai';
import { inspector } from '@troupe/testing/mcp/judge';
import { needs } from '@troupe/testing/machine/needs';
import { send } from '@troupe/testing/services/people';
import { sendRaw } from '@troupe/testing/http/raw';
import { addUser } from '@troupe/testing/services/users';
import { reset, startWorld, type World } from '@troupe/testing/services/world';
import { sql } from 'kysely';

/** The platform and an agent as MCP servers: the official clients of both revisions, with an API key. */

let world: World;
let agentId: string;
let platform: string;
let agent: string;
before(async () => {
  world = await startWorld();
  const headers = { authorization: `Bearer ${world.user.key}` };
  const made = await send(`${world.services.web}/api/agents/provision`, 'POST', { name: 'Ada' }, headers);
  agentId = made.body.agent.id;
  platform = `${world.services.web}/mcp`;
  agent = `${world.services.backend}/api/runtime/proxy/${agentId}/mcp`;
});
beforeEach(() => reset(world));
after(() => world.stop());

const requestInit = (key = world.user.key) => ({ headers: { authorization: `Bearer ${key}` } });

type Mode = NonNullable<NonNullable<ConstructorParameters<typeof Client>[1]>['versionNegotiation']>['mode'];

async function withClient<T>(url: string, mode: Mode, work: (client: Client) => Promise<T>, key?: string): Promise<T> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: requestInit(key) }));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

interface Called {
  content: { text: string }[];
  structuredContent?: Record<string, never>;
  isError?: boolean;
}
const call = async (client: Pick<Client, 'callTool'>, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })) as unknown as Called;

const TOOLS = [
  'list_agents',
  'ask_agent',
  'read_conversation',
  'list_conversations',
  'read_memory',
  'list_tasks',
  'list_task_runs',
  'create_task',
  'delete_task',
];

for (const [revision, mode] of [
  ['2026-07-28', { pin: '2026-07-28' }],
  ['the revisions before it', 'legacy'],
] as const)
  describe(`the platform, in ${revision}`, () => {
    it('lists agents, asks one, and reads what was said', () =>
      withClient(platform, mode, async (client) => {
        const { tools } = await client.listTools();
        assert.deepEqual(
          tools.map(({ name }) => name),
          TOOLS,
        );
        const { structuredContent } = await call(client, 'list_agents');
        assert.deepEqual(
          (structuredContent?.['agents'] as { id: string }[] | undefined)?.map(({ id }) => id),
          [agentId],
        );
        const asked = await call(client, 'ask_agent', {
          agent: agentId,
          message: 'Hi',
          conversation: `a-${revision[0]}`,
        });
        assert.equal(asked.content[0]?.text, 'Hello from the provider.');
        const read = await call(client, 'read_conversation', { agent: agentId, conversation: `a-${revision[0]}` });
        assert.match(read.content[0]?.text ?? '', /user: Hi\n\nagent: Hello from the provider\.\n\n\[answered\]/);
        const all = await call(client, 'list_conversations', { agent: agentId });
        assert.match(all.content[0]?.text ?? '', /"conversation":"a-/);
      }));

    it('has the run stand in the trace that the call names', () =>
      withClient(platform, mode, async (client) => {
        const traceId = revision[0]!
          .repeat(2)
          .padEnd(32, '7')
          .replaceAll(/[^0-9a-f]/g, 'e');
        const _meta = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
        await client.callTool({ name: 'ask_agent', arguments: { agent: agentId, message: 'Hi' }, _meta });
        const { rows } = await sql<{ trace: string | null }>`select data ->> 'trace' as trace from agent_events
          where agent_id = ${agentId} and type = 'user' order by at desc, seq desc limit 1`.execute(
          world.services.runtime.db.system,
        );
        assert.match(rows[0]?.trace ?? '', new RegExp(`^00-${traceId}-`));
      }));

    it('schedules a task and takes it away again', () =>
      withClient(platform, mode, async (client) => {
        const made = await call(client, 'create_task', {
          agent: agentId,
          name: 'Report',
          schedule: '0 9 * * 1',
          prompt: 'Write it',
        });
        const { id } = (made.structuredContent as unknown as { task: { id: string } }).task;
        assert.match((await call(client, 'list_tasks', { agent: agentId })).content[0]?.text ?? '', /Report/);
        assert.equal((await call(client, 'list_task_runs', { task: id })).content[0]?.text, 'No runs.');
        await call(client, 'delete_task', { task: id });
        assert.equal((await call(client, 'list_tasks', { agent: agentId })).content[0]?.text, 'No tasks.');
      }));

    it('says why a call fails', () =>
      withClient(platform, mode, async (client) => {
        const unknown = await call(client, 'ask_agent', { agent: 'nobody', message: 'Hi' });
        assert.deepEqual([unknown.isError, unknown.content[0]?.text], [true, 'No agent deployed']);
        const task = { agent: agentId, name: 'n', schedule: 'never', prompt: 'p' };
        assert.equal((await call(client, 'create_task', task)).content[0]?.text, 'Invalid cron schedule');
        const wrong = await call(client, 'ask_agent', { agent: agentId, message: '' });
        assert.equal(wrong.isError, true);
      }));

    it('does not wait longer than it is told to, and the agent goes on', () =>
      withClient(platform, mode, async (client) => {
        const gate = Promise.withResolvers<void>();
        world.openrouter.answer((request, response) => void gate.promise.then(() => replyChat(request, response)));
        const about = { agent: agentId, conversation: `slow-${revision[0]}` };
        const asked = await call(client, 'ask_agent', { ...about, message: 'Hi', wait_seconds: 1 });
        assert.match(asked.content[0]?.text ?? '', /still works on it/);
        gate.resolve();
        for (;;) {
          const read = await call(client, 'read_conversation', about);
          if (/\[answered\]/.test(read.content[0]?.text ?? '')) break;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }));
  });

for (const [revision, mode] of [
  ['2026-07-28', { pin: '2026-07-28' }],
  ['the revisions before it', 'legacy'],
] as const)
  describe(`an agent, in ${revision}`, () => {
    it('is asked, and keeps conversations of the key’s own', () =>
      withClient(agent, mode, async (client) => {
        const { tools } = await client.listTools();
        assert.deepEqual(
          tools.map(({ name }) => name),
          ['ask_agent', 'read_conversation', 'list_conversations'],
        );
        assert.match(client.getInstructions() ?? '', /^Ada/);
        const conversation = `own-${revision[0]}`;
        const asked = await call(client, 'ask_agent', { message: 'Hi', conversation });
        assert.equal(asked.content[0]?.text, 'Hello from the provider.');
        const read = await call(client, 'read_conversation', { conversation });
        assert.match(read.content[0]?.text ?? '', /agent: Hello from the provider\./);
        const names = (await call(client, 'list_conversations')).content[0]?.text ?? '';
        assert.match(names, new RegExp(`"conversation":"${conversation}"`));
        assert.doesNotMatch(names, /"conversation":"a-/, 'those of others are not its own');
      }));
  });

describe('the client of the older revisions', () => {
  it('works unchanged with both', async () => {
    for (const url of [platform, agent]) {
      const client = new OldClient({ name: 'test', version: '1' });
      await client.connect(new OldTransport(new URL(url), { requestInit: requestInit() }) as never);
      assert.ok((await client.listTools()).tools.length >= 3);
      const args = { message: 'Hi', ...(url === platform && { agent: agentId }) };
      const asked = (await client.callTool({ name: 'ask_agent', arguments: args })) as unknown as Called;
      assert.equal(asked.content[0]?.text, 'Hello from the provider.');
      await client.close();
    }
  });
});

describe('who has no right', () => {
  it('is told where to get one, and sees nothing of others', async () => {
    const refused = await fetch(platform, { method: 'POST', body: '{}' });
    assert.equal(refused.status, 401);
    assert.equal(
      refused.headers.get('www-authenticate'),
      `Bearer resource_metadata="${world.services.web}/.well-known/oauth-protected-resource/mcp", scope="agents:read agents:talk"`,
    );
    const metadata = await send(`${world.services.web}/.well-known/oauth-protected-resource/mcp`, 'GET');
    assert.deepEqual([metadata.body.resource, metadata.body.authorization_servers], [platform, [world.services.web]]);
    const other = await addUser(world.services.runtime, { plan: 'network' });
    await withClient(
      platform,
      'legacy',
      async (client) => {
        assert.equal((await call(client, 'list_agents')).content[0]?.text, 'No agents.');
        for (const name of ['ask_agent', 'list_conversations', 'read_memory']) {
          const tried = await call(client, name, { agent: agentId, message: 'Hi' });
          assert.deepEqual([name, tried.isError], [name, true]);
        }
      },
      other.key,
    );
    const foreign = await fetch(agent, { method: 'POST', body: '{}', ...requestInit(other.key) });
    assert.equal(foreign.status, 401);
  });

  it('is told so by whatever name it calls us', async () => {
    const path = `/.well-known/oauth-protected-resource${new URL(agent).pathname}`;
    const described = await send(world.services.backend + path, 'GET');
    assert.equal(described.body.resource, agent);
    const { status, text } = await sendRaw(world.services.backend, { path, headers: { host: '127.0.0.1:99999' } });
    assert.equal(status, 200, text);
  });
});

describe('what is no MCP', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(platform, {
      method: 'POST',
      body,
      headers: {
        ...requestInit().headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    });
  it('is refused with a sentence', async () => {
    const broken = await post('{"jsonrpc": ');
    assert.equal(broken.status, 400);
    assert.equal(((await broken.json()) as { error: { code: number } }).error.code, -32_700);
    assert.equal((await post(`${'['.repeat(70)}${']'.repeat(70)}`)).status, 400);
    const many = JSON.stringify(Array.from({ length: 21 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })));
    assert.equal((await post(many)).status, 400);
    assert.equal((await post('x'.repeat(1_100_000))).status, 413);
    assert.equal((await post('{}', { 'content-type': 'text/plain' })).status, 415);
    assert.equal((await post('{}', { origin: 'https://evil.example' })).status, 403);
    assert.equal((await fetch(platform, requestInit())).status, 405);
  });

  it('holds no more than a few places of its user', async () => {
    const gate = Promise.withResolvers<void>();
    world.openrouter.answer((request, response) => void gate.promise.then(() => replyChat(request, response)));
    const ask = (id: number) =>
      post(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          method: 'tools/call',
          params: { name: 'ask_agent', arguments: { agent: agentId, message: 'Hi', conversation: `place-${id}` } },
        }),
      );
    // The head of an answer comes at once, and its place is held until its end.
    const held = await Promise.all(Array.from({ length: 20 }, (_, id) => ask(id)));
    assert.ok(held.every(({ status }) => status === 200));
    const refused = await ask(20);
    assert.equal(refused.status, 429);
    gate.resolve();
    await Promise.all(held.map((response) => response.text()));
    const after = await ask(21);
    assert.equal(after.status, 200);
    await after.text();
  });
});

describe('the inspector', { skip: needs('the MCP judges') }, () => {
  it('lists and calls tools of both', async () => {
    for (const url of [platform, agent]) {
      const how = [url, '--transport', 'http', '--header', `authorization: Bearer ${world.user.key}`];
      const listed = await inspector([...how, '--method', 'tools/list']);
      assert.equal(listed.code, 0, listed.said);
      assert.match(listed.stdout, /"ask_agent"/);
      const name = url === platform ? 'list_agents' : 'list_conversations';
      const called = await inspector([...how, '--method', 'tools/call', '--tool-name', name]);
      assert.equal(called.code, 0, called.said);
      assert.match(called.stdout, /"structuredContent"/);
    }
  });
});
