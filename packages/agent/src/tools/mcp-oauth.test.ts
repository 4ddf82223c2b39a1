import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMcpOAuth } from './mcp-oauth.ts';
import type { UsedServer } from './mcp-shared.ts';

type Deps = Parameters<typeof createMcpOAuth>[0];
const SERVER = { name: 'notes', url: 'https://notes.example/mcp' } as UsedServer;
const RENEW = 'https://notes.example/token';

/** Renews with a token, at a server that gives a new one each time or none. */
function createRenewing(gives: (times: number) => string | undefined) {
  const kept = new Map<string, string>();
  const store: Deps['store'] = {
    load: async (name) => kept.get(name),
    save: async (name, text) => void (text === undefined ? kept.delete(name) : kept.set(name, text)),
  };
  let asked = 0;
  // Nothing is fetched but by what is given below.
  const { renewing } = createMcpOAuth({ store } as Deps);
  const fetch = renewing(SERVER, async () => {
    asked += 1;
    return Response.json({ access_token: `at-${asked}`, refresh_token: gives(asked) });
  });
  const renew = async (token: string): Promise<unknown> => {
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token });
    return ((await (await fetch(RENEW, { method: 'POST', body })).json()) as { access_token: string }).access_token;
  };
  return { renew, asked: () => asked };
}

test('of those who renew at once one asks, also where one of them shows what the other just got', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const { renew, asked } = createRenewing((times) => `rt-${times}`);
  assert.deepEqual(await Promise.all([renew('rt-0'), renew('rt-0')]), ['at-1', 'at-1']);
  assert.equal(await renew('rt-1'), 'at-1');
  assert.equal(asked(), 1);
  t.mock.timers.tick(60_000);
  assert.equal(await renew('rt-1'), 'at-2');
});

test('a server that gives no new token is asked with the same one again and again', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const { renew } = createRenewing(() => undefined);
  assert.equal(await renew('rt'), 'at-1');
  assert.equal(await renew('rt'), 'at-1', 'a moment later');
  t.mock.timers.tick(60_000);
  assert.equal(await renew('rt'), 'at-2');
});
