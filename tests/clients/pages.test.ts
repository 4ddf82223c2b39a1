import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { send } from '@troupe/testing/services/people';
import { addUser } from '@troupe/testing/services/users';
import { startWorld, type World } from '@troupe/testing/services/world';

/** Pages of other origins at /v1, of the platform and of an agent, and at /mcp: what a browser asks first, and what the key allows. */

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

const PAGE = 'https://app.example.org';
const PATHS = {
  '/v1/chat/completions': 'POST',
  '/v1/messages': 'POST',
  '/v1/responses': 'POST',
  '/v1/responses/resp_1': 'GET, DELETE',
  '/v1/embeddings': 'POST',
  '/v1/models': 'GET',
  '/v1/sessions/sesn_1/events?beta=true': 'GET, POST',
};
const preflight = (url: string, method = 'POST') =>
  fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin: PAGE,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    },
  });
const allows = ({ headers }: Response, name: string): string | null => headers.get(`access-control-allow-${name}`);

async function keyFor(origins: string[]): Promise<string> {
  const { id, key } = await addUser(world.services.runtime, { plan: 'network' });
  await world.services.runtime.db.system.updateTable('api_keys').set({ origins }).where('user_id', '=', id).execute();
  return key;
}

const chat = (key: string, origin: string) =>
  fetch(`${world.services.backend}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', origin },
    body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }),
  });

it('the question of a browser is answered for every origin, as it shows no key', async () => {
  for (const [path, methods] of Object.entries(PATHS)) {
    const response = await preflight(world.services.backend + path);
    assert.equal(response.status, 204, path);
    assert.equal(allows(response, 'origin'), PAGE);
    assert.deepEqual(allows(response, 'methods')?.split(', ').toSorted(), methods.split(', ').toSorted(), path);
    assert.equal(allows(response, 'headers'), 'authorization,content-type,x-stainless-lang');
    assert.equal(allows(response, 'credentials'), null);
  }
  for (const path of ['/api/ai/chat', '/v1/team-store', '/v1/audio/speech']) {
    const elsewhere = await preflight(world.services.backend + path);
    assert.deepEqual([elsewhere.status, allows(elsewhere, 'origin')], [404, null], path);
  }
});

it('a page forgets a response, and asks for its sessions', async () => {
  const key = await keyFor([PAGE]);
  const headers = { authorization: `Bearer ${key}`, origin: PAGE };
  const forgotten = await fetch(`${world.services.backend}/v1/responses/resp_none`, { method: 'DELETE', headers });
  assert.deepEqual([forgotten.status, allows(forgotten, 'origin')], [404, PAGE]);
  for (const [origin, status] of [
    [PAGE, 200],
    ['https://evil.example.org', 403],
  ] as const) {
    const listed = await fetch(`${world.services.backend}/v1/sessions`, { headers: { 'x-api-key': key, origin } });
    assert.deepEqual([listed.status, allows(listed, 'origin')], [status, origin]);
  }
});

it('a page asks for a token, without a key', async () => {
  const { web } = world.services;
  const question = await preflight(`${web}/oauth/token`);
  assert.deepEqual([question.status, allows(question, 'methods')], [204, 'POST']);
  const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'none' });
  const answered = await fetch(`${web}/oauth/token`, { method: 'POST', headers: { origin: PAGE }, body });
  assert.deepEqual([answered.status, allows(answered, 'origin')], [400, PAGE]);
  const found = await fetch(`${web}/.well-known/oauth-authorization-server`, { headers: { origin: PAGE } });
  assert.deepEqual([found.status, allows(found, 'origin')], [200, PAGE]);
});

describe('an agent', () => {
  const EVIL = 'https://evil.example.org';
  let url: string;
  let id: string;
  let owner: Awaited<ReturnType<typeof addUser>>;
  before(async () => {
    owner = await addUser(world.services.runtime, { plan: 'network' });
    const { id: userId } = owner;
    const { db } = world.services.runtime;
    await db.system
      .updateTable('api_keys')
      .set({ origins: [PAGE] })
      .where('user_id', '=', userId)
      .execute();
    const given = { name: 'Ada', model: 'openai/gpt-4o-mini' };
    const made = await send(`${world.services.web}/api/agents/provision`, 'POST', given, {
      authorization: `Bearer ${owner.key}`,
    });
    id = made.body.agent.id as string;
    url = `${world.services.backend}/api/runtime/proxy/${id}`;
  });
  const speak = (headers: Record<string, string>) =>
    fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'ada', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }),
    });

  it('answers the question of a browser where a page may come in', async () => {
    for (const [path, methods] of Object.entries({
      '/v1/messages': 'POST',
      '/v1/models': 'GET',
      '/mcp': 'POST, GET, DELETE',
      '/.well-known/oauth-protected-resource/mcp': 'GET',
    })) {
      const question = await preflight(url + path);
      assert.deepEqual([question.status, allows(question, 'methods')], [204, methods], path);
      assert.equal(allows(question, 'origin'), PAGE);
    }
    assert.equal(allows(await preflight(`${url}/sessions`, 'GET'), 'origin'), null);
  });

  it('looks at the page however the key is shown', async () => {
    world.openrouter.requests.length = 0;
    const shown = [
      { authorization: `Bearer ${owner.key}` },
      { authorization: `bearer ${owner.key}` },
      { 'x-api-key': owner.key },
    ] as Record<string, string>[];
    for (const headers of shown) {
      const refused = await speak({ ...headers, origin: EVIL });
      assert.deepEqual([refused.status, allows(refused, 'origin')], [403, EVIL], JSON.stringify(headers));
      assert.match(await refused.text(), /This key is not for pages/);
    }
    assert.equal(world.openrouter.requests.length, 0);
    for (const headers of shown) {
      const allowed = await speak({ ...headers, origin: PAGE });
      assert.deepEqual([allowed.status, allows(allowed, 'origin')], [200, PAGE], JSON.stringify(headers));
    }
    assert.equal((await speak({ 'x-api-key': owner.key })).status, 200);
  });

  it('is an MCP server for the page, and says where tokens are given', async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'page', version: '1' } },
        }),
      });
    const listed = await ask({ authorization: `Bearer ${owner.key}`, origin: PAGE });
    assert.deepEqual([listed.status, allows(listed, 'origin')], [200, PAGE]);
    assert.equal((await ask({ authorization: `Bearer ${owner.key}`, origin: EVIL })).status, 403);
    const nobody = await ask({ origin: EVIL });
    assert.deepEqual([nobody.status, allows(nobody, 'origin')], [401, EVIL]);
    assert.match(nobody.headers.get('access-control-expose-headers') ?? '', /www-authenticate/);
    const below = `/.well-known/oauth-protected-resource/api/runtime/proxy/${id}/mcp`;
    for (const where of [`${url}/.well-known/oauth-protected-resource/mcp`, world.services.backend + below]) {
      const told = await fetch(where, { headers: { origin: EVIL } });
      assert.deepEqual([told.status, allows(told, 'origin')], [200, EVIL], where);
    }
  });
});

it('a key serves the pages that it names, and no others; nothing reaches a provider for them', async () => {
  const key = await keyFor([PAGE]);
  const allowed = await chat(key, PAGE);
  assert.deepEqual([allowed.status, allowed.headers.get('access-control-allow-origin')], [200, PAGE]);
  assert.equal(allowed.headers.get('vary'), 'Origin');
  world.openrouter.requests.length = 0;
  for (const origin of ['https://evil.example.org', 'http://app.example.org', 'null']) {
    const refused = await chat(key, origin);
    assert.equal(refused.status, 403, origin);
    // The page can read why.
    assert.equal(refused.headers.get('access-control-allow-origin'), origin);
    assert.match(
      ((await refused.json()) as { error: { message: string } }).error.message,
      /^This key is not for pages/,
    );
  }
  assert.equal((await chat(await keyFor([]), PAGE)).status, 403);
  assert.equal(world.openrouter.requests.length, 0);
  assert.equal((await chat(await keyFor(['*']), 'https://any.example.net')).status, 200);
});

it('a caller holds four large requests at a time', async () => {
  const { key } = await addUser(world.services.runtime, { plan: 'network' });
  const content = 'x'.repeat(1_500_000);
  const held = Promise.withResolvers<void>();
  const five = Promise.withResolvers<void>();
  let came = 0;
  world.openrouter.answer(async (_request, response) => {
    came += 1;
    if (came === 4) five.resolve();
    await held.promise;
    response.end('{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}');
  });
  const large = () =>
    fetch(`${world.services.backend}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] }),
    });
  const four = [large(), large(), large(), large()];
  await five.promise;
  const fifth = await large();
  assert.deepEqual([fifth.status, fifth.headers.get('retry-after')], [429, '1']);
  held.resolve();
  for (const each of four) assert.equal((await each).status, 200);
  assert.equal((await large()).status, 200);
});
