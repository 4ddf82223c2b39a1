import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { freePorts } from '@troupe/testing/processes/program';
import { cookieOf, send } from '@troupe/testing/services/people';
import { startWorld, type World } from '@troupe/testing/services/world';

/** The official client gets access by itself: it finds us, registers, has its person asked, and renews what it got. */

const REDIRECT = 'http://127.0.0.1:9/callback';

let world: World;
let cookie: string;
let agentId: string;
before(async () => {
  const [port] = await freePorts(1);
  world = await startWorld({ WEB_PORT: String(port) });
  cookie = await cookieOf(world.services.runtime.db, world.user);
  const made = await send(`${world.services.web}/api/agents/provision`, 'POST', { name: 'Ada' }, { cookie });
  agentId = made.body.agent.id;
});
after(() => world.stop());

/** A program of the person's, which keeps what it gets in memory. */
function program(scope?: string) {
  const kept: {
    client?: StoredOAuthClientInformation;
    tokens?: StoredOAuthTokens;
    verifier?: string;
    asked?: URL;
  } = {};
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: 'A program',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      ...(scope !== undefined && { scope }),
    },
    state: () => 'state-1',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (url) => void (kept.asked = url),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? '',
  };
  return { kept, provider };
}

/** What the person does in the browser: the page says who asks for what, and she agrees. */
async function consent(asked: URL, leaveOut: string[] = []) {
  const { web } = world.services;
  assert.equal(`${asked.origin}${asked.pathname}`, `${web}/dashboard/authorize`);
  const shown = await send(`${web}/api/authorizations/request${asked.search}`, 'GET', undefined, { cookie });
  assert.equal(shown.status, 200, JSON.stringify(shown.body));
  const scopes = (shown.body.scopes as { scope: string }[]).map((one) => one.scope);
  const body = {
    ...Object.fromEntries(asked.searchParams),
    approved: true,
    scopes: scopes.filter((one) => !leaveOut.includes(one)),
  };
  const decided = await send(`${web}/api/authorizations`, 'POST', body, { cookie });
  assert.equal(decided.status, 200, JSON.stringify(decided.body));
  const back = new URL(decided.body.redirect);
  assert.equal(back.searchParams.get('state'), 'state-1');
  assert.equal(back.searchParams.get('iss'), web);
  return { back, shown: shown.body };
}

async function connect(url: string, { kept, provider }: ReturnType<typeof program>, leaveOut: string[] = []) {
  const make = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const first = make();
  await assert.rejects(client.connect(first), UnauthorizedError);
  const { back, shown } = await consent(kept.asked!, leaveOut);
  await first.finishAuth(back.searchParams);
  await client.connect(make());
  return { client, shown };
}

const text = (called: unknown): string | undefined => (called as { content?: { text?: string }[] }).content?.[0]?.text;

describe('a program that its person lets in', () => {
  it('uses the platform, renews its token, and is shut out when she takes it back', async () => {
    const url = `${world.services.web}/mcp`;
    const mine = program();
    const { client, shown } = await connect(url, mine);
    assert.deepEqual([shown.client.name, shown.audience], ['A program', { kind: 'platform', name: 'Troupe' }]);
    assert.match(text(await client.callTool({ name: 'list_agents', arguments: {} })) ?? '', /"name":"Ada"/);

    // The access token is over: the client comes with its refresh token, which is used up by that.
    const before = mine.kept.tokens!;
    mine.kept.tokens = { ...before, access_token: 'at_over' };
    assert.match(text(await client.callTool({ name: 'list_agents', arguments: {} })) ?? '', /"name":"Ada"/);
    assert.notEqual(mine.kept.tokens.refresh_token, before.refresh_token);

    const { body } = await send(`${world.services.web}/api/authorizations`, 'GET', undefined, { cookie });
    const [grant] = body.authorizations as { id: string; name: string; audience: string }[];
    assert.deepEqual([grant?.name, grant?.audience], ['A program', 'platform']);
    await send(`${world.services.web}/api/authorizations/${grant!.id}`, 'DELETE', undefined, { cookie });
    await assert.rejects(client.callTool({ name: 'list_agents', arguments: {} }));
    await client.close();
  });

  it('asks for more when a tool needs more', async () => {
    const url = `${world.services.web}/mcp`;
    const mine = program();
    const { client } = await connect(url, mine);
    const task = { agent: agentId, name: 'n', schedule: '0 9 * * 1', prompt: 'p' };
    delete mine.kept.asked;
    await assert.rejects(client.callTool({ name: 'create_task', arguments: task }));
    assert.match(mine.kept.asked!.searchParams.get('scope') ?? '', /tasks:write/);
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: mine.provider });
    const { back } = await consent(mine.kept.asked!);
    await transport.finishAuth(back.searchParams);
    assert.match(text(await client.callTool({ name: 'create_task', arguments: task })) ?? '', /^Scheduled as/);
    await client.close();
  });

  it('uses one agent, where its token opens nothing else', async () => {
    const url = `${world.services.backend}/api/runtime/proxy/${agentId}/mcp`;
    const mine = program();
    const { client, shown } = await connect(url, mine);
    assert.deepEqual(shown.audience, { kind: 'agent', name: 'Ada' });
    const asked = await client.callTool({ name: 'ask_agent', arguments: { message: 'Hi' } });
    assert.equal(text(asked), 'Hello from the provider.');
    const authorization = `Bearer ${mine.kept.tokens!.access_token}`;
    const elsewhere = [
      [`${world.services.web}/mcp`, 'POST'],
      [`${world.services.web}/api/scheduled-tasks`, 'GET'],
      [`${world.services.backend}/api/runtime/proxy/${agentId}/v1/models`, 'GET'],
      [`${world.services.backend}/api/runtime/proxy/${agentId}/sessions`, 'GET'],
    ] as const;
    for (const [where, method] of elsewhere)
      assert.equal((await fetch(where, { method, headers: { authorization } })).status, 401, where);
    // A page may use it that has it.
    const origin = 'https://page.example.org';
    const page = await fetch(url, { method: 'GET', headers: { authorization, origin } });
    assert.notEqual(page.status, 403);
    assert.equal(page.headers.get('access-control-allow-origin'), origin);
    await page.body?.cancel();
    await client.close();
  });
});
