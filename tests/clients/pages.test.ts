import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { addUser } from '@troupe/testing/services/users';
import { startWorld, type World } from '@troupe/testing/services/world';

/** Pages of other origins at /v1: what a browser asks first, and what the key allows. */

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.stop());

const PAGE = 'https://app.example.org';
const PATHS = ['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1/embeddings', '/v1/models'];

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
  for (const path of PATHS) {
    const response = await fetch(world.services.backend + path, {
      method: 'OPTIONS',
      headers: {
        origin: PAGE,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
      },
    });
    assert.equal(response.status, 204, path);
    assert.equal(response.headers.get('access-control-allow-origin'), PAGE);
    assert.equal(response.headers.get('access-control-allow-headers'), 'authorization,content-type,x-stainless-lang');
    assert.equal(response.headers.get('access-control-allow-credentials'), null);
  }
  const elsewhere = await fetch(`${world.services.backend}/api/ai/chat`, {
    method: 'OPTIONS',
    headers: { origin: PAGE, 'access-control-request-method': 'POST' },
  });
  assert.deepEqual([elsewhere.status, elsewhere.headers.get('access-control-allow-origin')], [404, null]);
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
