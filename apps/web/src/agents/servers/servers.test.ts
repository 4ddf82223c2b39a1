import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { replyChat } from '@troupe/ai';
import { createEverything } from '@troupe/testing/mcp/everything';
import { askBackend, cookieOf, send, type Body } from '@troupe/testing/services/people';
import { addUser, startServices, type StartedServices, type TestUser } from '@troupe/testing/services/services';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** MCP servers of a user: all agents have them, one of them does without, and what is removed ends everywhere. */

let world: World;
let cookie: string;
let ada: string;
let server: http.Server;
let plain: string;
/** Sessions that are open at the server. */
const open = new Set<string>();
let asked: { authorization: string | undefined; key: string | undefined }[] = [];
let other: StartedServices;
let friend: TestUser;
let friendCookie: string;

before(async () => {
  const everything = createEverything();
  server = http.createServer((request, response) => void answer(everything.fetch, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  plain = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  other = await startServices({});
  friend = await addUser(other.runtime, { plan: 'network' });
  friendCookie = await cookieOf(other.runtime.db, friend);
  const hosts = [plain, other.web].map((url) => new URL(url).host);
  world = await startWorld({ AGENT_PRIVATE_HOSTS: hosts.join(',') });
  cookie = await cookieOf(world.services.runtime.db, world.user);
  ada = await agent('Ada');
});
beforeEach(() => {
  reset(world);
  asked = [];
});
after(async () => {
  await world.stop();
  await other.stop();
  server.close().closeAllConnections();
});

async function answer(
  handle: (request: Request) => Promise<Response>,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const { authorization } = request.headers;
  const key = request.headers['x-key'] as string | undefined;
  asked.push({ authorization, key });
  if (key !== 'top-secret') return void response.writeHead(403).end('no key');
  const chunks = (await request.toArray()) as Buffer[];
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
  const method = request.method ?? 'GET';
  const answered = await handle(new Request(`http://x${request.url}`, { method, headers, ...(body && { body }) }));
  const session = answered.headers.get('mcp-session-id') ?? request.headers['mcp-session-id'];
  if (typeof session === 'string') open[method === 'DELETE' ? 'delete' : 'add'](session);
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  response.end(await answered.text());
}

const ask = (method: string, path: string, body?: unknown) =>
  send(`${world.services.web}${path}`, method, body, { cookie });
const agent = async (name: string): Promise<string> =>
  (await ask('POST', '/api/agents/provision', { name })).body.agent.id;
const things = (more: object = {}) => ({ url: plain, headers: { 'x-key': 'top-secret' }, ...more });
const ofAgent = async (id: string): Promise<Body[]> => (await ask('GET', `/api/agents/${id}/mcp-servers`)).body.servers;
const row = async (name = 'things'): Promise<Body> =>
  (await ask('GET', '/api/mcp-servers')).body.servers.find((one: Body) => one.name === name);

/** What an agent's model is offered, and what came of calling a tool. */
async function use(agentId: string, tool: string): Promise<{ offered: string[]; reply: string; body: Body }> {
  let offered: string[] = [];
  world.openrouter.answer((request, response) => {
    offered = ((request.body['tools'] ?? []) as Body[]).map((one) => one.function.name);
    const messages = request.body['messages'] as { role: string; content: string }[];
    const result = messages.findLast(({ role }) => role === 'tool');
    if (result) return replyChat(request, response, { content: `It said: ${result.content}` });
    if (!offered.includes(tool)) return replyChat(request, response, { content: 'no such tool' });
    replyChat(request, response, { content: null, toolCalls: [{ id: 'c', name: tool, arguments: '{}' }] });
  });
  const topic = `t${Math.random()}`;
  const { body } = await ask('POST', '/api/chat', { message: 'Go', agentId, topic });
  return { offered, reply: body.reply, body };
}

describe('an MCP server of a user', () => {
  it('is every agent’s, also of one that is made later, with its secrets sealed', async () => {
    const made = await ask('PUT', '/api/mcp-servers/things', things({ tools: ['test_simple_text'] }));
    assert.equal(made.status, 200, JSON.stringify(made.body));
    assert.deepEqual([made.body.server.headers, made.body.server.forAll], [['x-key'], true]);
    assert.match((await use(ada, 'things_test_simple_text')).reply, /This is a simple text response/);
    const later = await agent('Later');
    const { offered, reply } = await use(later, 'things_test_simple_text');
    assert.deepEqual(
      offered.filter((name) => name.startsWith('things_')),
      ['things_test_simple_text'],
    );
    assert.match(reply, /This is a simple text response/);

    const kept = await world.services.runtime.db.system.selectFrom('mcp_servers').selectAll().execute();
    assert.doesNotMatch(JSON.stringify(kept), /top-secret/);
    assert.doesNotMatch(JSON.stringify([await ofAgent(ada), await row()]), /top-secret|sealed/);
    const [inherited] = await ofAgent(ada);
    assert.deepEqual([inherited.name, inherited.inherited, inherited.off], ['things', true, false]);
  });

  it('says how it is with each agent, once', async () => {
    const states = (await row()).agents.map(({ name, state, offered }: Body) => [name, state, offered]);
    assert.deepEqual(states, [
      ['Ada', 'connected', ['things_test_simple_text']],
      ['Later', 'connected', ['things_test_simple_text']],
    ]);
    await ask('PUT', '/api/mcp-servers/closed', { url: 'http://127.0.0.1:1/mcp' });
    const tried = await ask('POST', '/api/mcp-servers/closed/test', { agentId: ada });
    assert.deepEqual([tried.body.state, tried.body.agentId], ['failed', ada]);
    await ask('POST', '/api/mcp-servers/closed/test', { agentId: ada });
    for (;;) {
      const found = (await row('closed')).agents.find((one: Body) => one.agentId === ada);
      if (/AGENT_PRIVATE_HOSTS/.test(found.error ?? '')) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const rows = await world.services.runtime.db.system
      .selectFrom('mcp_server_agents')
      .selectAll()
      .where('agent_id', '=', ada)
      .where('state', '=', 'failed')
      .execute();
    assert.equal(rows.length, 1);
    assert.equal((await ask('DELETE', '/api/mcp-servers/closed')).status, 200);
  });

  it('can be switched off for one agent, and on again', async () => {
    const { status } = await ask('PUT', `/api/agents/${ada}/mcp-servers/things/use`, { use: false });
    assert.equal(status, 200);
    assert.deepEqual(
      (await ofAgent(ada)).map(({ name, off }) => [name, off]),
      [['things', true]],
    );
    assert.equal((await use(ada, 'things_test_simple_text')).reply, 'no such tool');
    assert.equal((await ask('POST', `/api/agents/${ada}/mcp-servers/things/test`)).status, 404);
    await ask('PUT', `/api/agents/${ada}/mcp-servers/things/use`, { use: true });
    assert.match((await use(ada, 'things_test_simple_text')).reply, /simple text response/);
    assert.equal((await ask('PUT', `/api/agents/${ada}/mcp-servers/none/use`, { use: true })).status, 404);
  });

  it('is changed without giving its secrets again: who has it, which tools, what is asked about', async () => {
    const only = await ask('PATCH', '/api/mcp-servers/things', { forAll: false, agents: [ada], tools: null });
    assert.deepEqual(
      only.body.server.agents.map(({ name, uses }: Body) => [name, uses]),
      [
        ['Ada', true],
        ['Later', false],
      ],
    );
    const later = only.body.server.agents[1].agentId;
    assert.equal((await use(later, 'things_test_simple_text')).reply, 'no such tool');
    const { offered } = await use(ada, 'things_test_simple_text');
    assert.ok(offered.filter((name) => name.startsWith('things_')).length > 1, 'all of its tools');
    await ask('PATCH', '/api/mcp-servers/things', { approval: 'deny' });
    assert.doesNotMatch((await use(ada, 'things_test_simple_text')).reply, /simple text response/);
    await ask('PATCH', '/api/mcp-servers/things', { approval: 'allow', forAll: true });
    assert.match((await use(later, 'things_test_simple_text')).reply, /simple text response/);
  });

  it('gives way to one of the agent’s own, and is changed in its own place', async () => {
    for (const [method, path] of [
      ['DELETE', ''],
      ['POST', '/connect'],
    ] as const) {
      const { status, body } = await ask(method, `/api/agents/${ada}/mcp-servers/things${path}`);
      assert.deepEqual([status, body.error.slice(0, 46)], [409, 'This server belongs to all of your agents: cha']);
    }
    await ask('PUT', `/api/agents/${ada}/mcp-servers/things`, things({ tools: ['test_error_handling'] }));
    const [own, ...others] = await ofAgent(ada);
    assert.deepEqual([own.inherited, others], [undefined, []]);
    assert.ok((await use(ada, 'x')).offered.includes('things_test_error_handling'));
    await ask('DELETE', `/api/agents/${ada}/mcp-servers/things`);
    assert.equal((await ofAgent(ada))[0].inherited, true);
  });

  it('ends where it runs when it is removed', async () => {
    await use(ada, 'things_test_simple_text');
    assert.equal((await ask('DELETE', '/api/mcp-servers/things')).status, 200);
    assert.deepEqual(await ofAgent(ada), []);
    const { status, body } = await ask('POST', `/api/agents/${ada}/mcp-servers/things/test`);
    assert.deepEqual([status, body.error], [404, 'MCP server not found']);
    while (open.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    asked = [];
    assert.equal((await use(ada, 'things_test_simple_text')).reply, 'no such tool');
    assert.deepEqual(asked, [], 'nothing is said to it any more');
    assert.equal((await ask('DELETE', '/api/mcp-servers/things')).status, 404);
  });

  it('is refused when it is none, is too many, or is not theirs', async () => {
    for (const body of [{}, { url: plain, command: 'x' }, { url: 'ftp://x' }, { command: '' }])
      assert.equal((await ask('PUT', '/api/mcp-servers/bad', body)).status, 400, JSON.stringify(body));
    assert.equal((await ask('PUT', '/api/mcp-servers/b%20d', things())).status, 400);
    assert.match((await ask('PUT', '/api/mcp-servers/shell', things())).body.error, /own tools are named shell/);
    const solo = await addUser(world.services.runtime, { plan: 'solo' });
    const headers = { authorization: `Bearer ${solo.key}` };
    const put = (index: number) =>
      send(`${world.services.web}/api/mcp-servers/s${index}`, 'PUT', { url: 'https://x.example' }, headers);
    const made = await Promise.all(Array.from({ length: 8 }, (_, index) => put(index)));
    assert.equal(made.filter(({ status }) => status === 200).length, 5);
    // Whichever came first.
    const theirs = `${world.services.web}/api/mcp-servers/s${made.findIndex(({ status }) => status === 200)}`;
    assert.equal(
      made.find(({ status }) => status === 409)?.body.error,
      'Your plan has 5 MCP servers at most: remove one, or choose a larger plan',
    );
    const stolen = { url: 'https://x.example', forAll: false, agents: [ada] };
    assert.equal((await send(theirs, 'PUT', stolen, headers)).status, 404);
    assert.equal((await send(`${world.services.web}/api/mcp-servers`, 'GET', undefined, headers)).body.count, 5);
    assert.deepEqual(await ofAgent(ada), []);
    assert.equal(
      (await send(`${theirs}/test`, 'POST', {}, headers)).body.error,
      'None of your agents that has this server runs: start one, and try again',
    );
  });
});

describe('an agent that runs elsewhere', () => {
  it('is given its owner’s servers with what opens them, and tells how they are', async () => {
    await ask('PUT', '/api/mcp-servers/things', things());
    const headers = { 'x-agent-id': ada, 'x-user-id': world.user.id };
    const { body } = await askBackend(world.services, 'GET', '/v1/mcp_servers', undefined, headers);
    assert.deepEqual([body.servers[0].headers, body.servers[0].isOff], [{ 'x-key': 'top-secret' }, false]);
    const { shared } = body.servers[0];
    const told = { state: 'failed', error: 'it sulks' };
    await askBackend(world.services, 'POST', `/v1/mcp_servers/${shared}/state`, told, headers);
    assert.equal((await row()).agents.find((one: Body) => one.agentId === ada).error, 'it sulks');
    const stranger = await addUser(world.services.runtime, { plan: 'network' });
    const theirs = { 'x-agent-id': ada, 'x-user-id': stranger.id };
    assert.equal((await askBackend(world.services, 'GET', '/v1/mcp_servers', undefined, theirs)).status, 404);
    await ask('DELETE', '/api/mcp-servers/things');
  });
});

/** What the friend's browser does at the other platform. */
async function agree(url: string): Promise<URL> {
  const search = new URL(url);
  const path = `${other.web}/api/authorizations`;
  const shown = await send(`${path}/request${search.search}`, 'GET', undefined, { cookie: friendCookie });
  const scopes = (shown.body.scopes as { scope: string }[]).map(({ scope }) => scope);
  const body = { ...Object.fromEntries(search.searchParams), approved: true, scopes };
  return new URL((await send(path, 'POST', body, { cookie: friendCookie })).body.redirect);
}

describe('an MCP server of a user that asks for access', () => {
  it('is connected once for all agents, and renewed by one of them at a time', async () => {
    const bob = await agent('Bob');
    await ask('PUT', '/api/mcp-servers/other', { url: `${other.web}/mcp` });
    assert.equal((await ask('POST', '/api/mcp-servers/other/test', { agentId: ada })).body.state, 'consent');
    const begun = await ask('POST', '/api/mcp-servers/other/connect');
    assert.equal(begun.status, 200, JSON.stringify(begun.body));
    const back = await agree(begun.body.url);
    // Whoever comes back twice at once has shown the code once: shown again it would end what it has opened.
    const come = async () => {
      const where = `${world.services.web}${back.pathname}${back.search}`;
      return (await fetch(where, { headers: { cookie }, redirect: 'manual' })).headers.get('location');
    };
    const came = await Promise.all([come(), come(), come()]);
    const page = '/dashboard/mcp-servers?';
    assert.deepEqual(
      ['connected', 'failed'].map((how) => came.filter((where) => where === `${page}${how}=other`).length),
      [1, 2],
    );
    for (const id of [ada, bob])
      assert.equal((await ask('POST', '/api/mcp-servers/other/test', { agentId: id })).body.state, 'connected');
    assert.equal((await row('other')).isConnected, true);
    const kept = await world.services.runtime.db.system.selectFrom('mcp_servers').select('access').execute();
    assert.doesNotMatch(String(kept[0]?.access), /at_|rt_/);

    // The access token is over: both renew it at once, with a token that counts once.
    await other.runtime.db.system
      .updateTable('client_tokens')
      .set({ expires_at: new Date(0) })
      .where('kind', '=', 'access')
      .execute();
    const both = await Promise.all([ada, bob].map((id) => ask('POST', '/api/mcp-servers/other/test', { agentId: id })));
    assert.deepEqual(
      both.map(({ body }) => body.state),
      ['connected', 'connected'],
    );
    const renewed = await other.runtime.db.system
      .selectFrom('client_tokens')
      .select('kind')
      .where('kind', '=', 'refresh')
      .execute();
    assert.ok(renewed.length <= 2, `${renewed.length} refresh tokens`);
  });

  it('is forgotten with what opened it', async () => {
    await ask('DELETE', '/api/mcp-servers/other');
    const kept = await world.services.runtime.db.system
      .selectFrom('mcp_servers')
      .select('id')
      .where('user_id', '=', world.user.id)
      .execute();
    assert.deepEqual(kept, []);
  });
});
