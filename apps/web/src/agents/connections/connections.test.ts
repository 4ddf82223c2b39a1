import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { replyChat } from '@troupe/ai';
import { createEverything } from '@troupe/testing/mcp/everything';
import { cookieOf, send } from '@troupe/testing/services/people';
import { addUser, startServices, type StartedServices, type TestUser } from '@troupe/testing/services/services';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** An owner attaches MCP servers, tries them, agrees to be asked for access, and takes them away again. */

let world: World;
let cookie: string;
let agentId: string;
let server: http.Server;
let plain: string;
/** Another platform, whose agents are the MCP server that asks for access. */
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
  const made = await send(`${world.services.web}/api/agents/provision`, 'POST', { name: 'Ada' }, { cookie });
  agentId = made.body.agent.id;
});
beforeEach(() => reset(world));
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
  if (request.headers['x-key'] !== 'top-secret') return void response.writeHead(403).end('no key');
  const chunks = (await request.toArray()) as Buffer[];
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
  const method = request.method ?? 'GET';
  const answered = await handle(new Request(`http://x${request.url}`, { method, headers, ...(body && { body }) }));
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  response.end(await answered.text());
}

const at = (path = '') => `${world.services.web}/api/agents/${agentId}/mcp-servers${path}`;
const ask = (method: string, path = '', body?: unknown) => send(at(path), method, body, { cookie });

describe('an MCP server', () => {
  it('is attached, tried, used by the model, and removed', async () => {
    const server = { url: plain, headers: { 'x-key': 'top-secret' }, tools: ['test_simple_text'] };
    const made = await ask('PUT', '/things', server);
    assert.deepEqual([made.status, made.body.server.headers], [200, ['x-key']], JSON.stringify(made.body));
    const tried = await ask('POST', '/things/test');
    assert.deepEqual(
      [tried.body.state, tried.body.offered],
      ['connected', ['things_test_simple_text']],
      tried.body.error,
    );
    const rows = await world.services.runtime.db.system
      .selectFrom('agent_definitions')
      .select('definition')
      .where('agent_id', '=', agentId)
      .execute();
    assert.doesNotMatch(JSON.stringify(rows), /top-secret/, 'it lies sealed');
    assert.doesNotMatch(JSON.stringify((await ask('GET')).body), /top-secret|sealed:/);

    world.openrouter.answer((request, response) => {
      const messages = request.body['messages'] as { role: string; content: string }[];
      const result = messages.findLast(({ role }) => role === 'tool');
      if (result) return replyChat(request, response, { content: `It said: ${result.content}` });
      const toolCalls = [{ id: 'c', name: 'things_test_simple_text', arguments: '{}' }];
      replyChat(request, response, { content: null, toolCalls });
    });
    const said = await send(
      `${world.services.web}/api/chat`,
      'POST',
      { message: 'Go', agentId, topic: 'first' },
      { cookie },
    );
    assert.match(said.body.reply, /This is a simple text response/, JSON.stringify(said.body));

    assert.equal((await ask('DELETE', '/things')).status, 200);
    assert.deepEqual((await ask('GET')).body, { servers: [], count: 0 });
    assert.equal((await ask('DELETE', '/things')).status, 404);
  });

  it('that cannot be used says why, on the agent’s page and in its log', async () => {
    await ask('PUT', '/closed', { url: 'http://127.0.0.1:1/mcp' });
    const tried = await ask('POST', '/closed/test');
    assert.equal(tried.body.state, 'failed');
    assert.match(tried.body.error, /AGENT_PRIVATE_HOSTS/);
    const { servers } = (await ask('GET')).body;
    assert.match(servers[0].error, /AGENT_PRIVATE_HOSTS/);
    for (;;) {
      const { body } = await send(`${world.services.web}/api/agents/${agentId}/logs`, 'GET', undefined, { cookie });
      if (/The MCP server closed cannot be used/.test(JSON.stringify(body))) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await ask('DELETE', '/closed');
  });

  it('is refused when it is none', async () => {
    for (const body of [{}, { url: plain, command: 'x' }, { url: 'ftp://x' }, { command: '' }, { url: 'x' }])
      assert.equal((await ask('PUT', '/bad', body)).status, 400, JSON.stringify(body));
    assert.equal((await ask('PUT', '/b%20d', { url: plain })).status, 400);
    const stranger = await addUser(world.services.runtime, { plan: 'network' });
    const headers = { authorization: `Bearer ${stranger.key}` };
    assert.equal((await send(at(), 'GET', undefined, headers)).status, 404);
    assert.equal((await send(at('/x'), 'PUT', { url: plain }, headers)).status, 404);
  });
});

/** What the friend's browser does at the other platform. */
async function agree(url: string): Promise<URL> {
  const asked = new URL(url);
  const shown = await send(`${other.web}/api/authorizations/request${asked.search}`, 'GET', undefined, {
    cookie: friendCookie,
  });
  const body = {
    ...Object.fromEntries(asked.searchParams),
    approved: true,
    scopes: (shown.body.scopes as { scope: string }[]).map(({ scope }) => scope),
  };
  const decided = await send(`${other.web}/api/authorizations`, 'POST', body, { cookie: friendCookie });
  return new URL(decided.body.redirect);
}

describe('an MCP server that asks for access', () => {
  it('is connected by its owner in the browser, and renewed without him', async () => {
    await ask('PUT', '/other', { url: `${other.web}/mcp` });
    assert.equal((await ask('POST', '/other/test')).body.state, 'consent');
    const begun = await ask('POST', '/other/connect');
    assert.equal(begun.status, 200, JSON.stringify(begun.body));
    assert.equal(new URL(begun.body.url).origin, other.web);
    const back = await agree(begun.body.url);
    assert.equal(back.pathname, '/api/mcp/callback');
    const come = await fetch(`${world.services.web}/api/mcp/callback${back.search}`, {
      headers: { cookie },
      redirect: 'manual',
    });
    assert.equal(come.headers.get('location'), `/dashboard/agents/${agentId}?tab=connections&connected=other`);
    const tried = await ask('POST', '/other/test');
    assert.equal(tried.body.state, 'connected', tried.body.error);
    assert.ok(tried.body.offered.includes('other_list_agents'));
    const kept = await world.services.runtime.db.system.selectFrom('mcp_credentials').selectAll().execute();
    assert.doesNotMatch(String(kept[0]?.sealed), /at_|rt_/);

    // The access token is over: the next call renews it.
    await other.runtime.db.system
      .updateTable('client_tokens')
      .set({ expires_at: new Date(0) })
      .where('kind', '=', 'access')
      .execute();
    world.openrouter.answer((request, response) => {
      const messages = request.body['messages'] as { role: string; content: string }[];
      const result = messages.findLast(({ role }) => role === 'tool');
      if (result) return replyChat(request, response, { content: `It said: ${result.content}` });
      const toolCalls = [{ id: 'c', name: 'other_list_agents', arguments: '{}' }];
      replyChat(request, response, { content: null, toolCalls });
    });
    const said = await send(
      `${world.services.web}/api/chat`,
      'POST',
      { message: 'Go', agentId, topic: 'second' },
      { cookie },
    );
    assert.match(said.body.reply, /It said: No agents\./, JSON.stringify(said.body));
  });

  it('takes no answer that nobody asked for', async () => {
    const state = `${agentId}.other.${'0'.repeat(32)}`;
    const come = await fetch(`${world.services.web}/api/mcp/callback?code=x&state=${state}`, {
      headers: { cookie },
      redirect: 'manual',
    });
    assert.match(come.headers.get('location') ?? '', /failed=other/);
    const refused = await fetch(`${world.services.web}/api/mcp/callback?error=access_denied&state=${state}`, {
      headers: { cookie },
      redirect: 'manual',
    });
    assert.match(refused.headers.get('location') ?? '', /refused=other/);
  });

  it('is forgotten with what opened it', async () => {
    await ask('DELETE', '/other');
    const kept = await world.services.runtime.db.system.selectFrom('mcp_credentials').selectAll().execute();
    assert.deepEqual(kept, []);
  });
});
