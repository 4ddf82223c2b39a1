import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { startServices, type Services } from '@troupe/testing/services/services';

/** The infrastructure-tooling gateway, as a client of the backend sees it. */

let services: Services;
before(async () => {
  services = await startServices();
});
after(() => services.stop());

const ask = (
  path: string,
  { key = TEST_SECRETS.internalKey as string | null, body }: { key?: string | null; body?: unknown } = {},
) =>
  fetch(`${services.backend}/api/infra-mcp/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    redirect: 'manual',
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

test('all nine routes answer with the internal key, 401 without one and 403 with another', async () => {
  for (const [path, status, body] of [
    ['health', 200],
    ['info', 200],
    ['setup', 200],
    ['tools', 200],
    ['examples', 200],
    ['docs', 301],
    ['github', 301],
    ['validate-config', 200, { api_key: 'rnd_0123456789abcdefghij', endpoint: 'https://api.render.com' }],
    ['validate-config', 400, {}],
  ] as const) {
    assert.equal((await ask(path, { body })).status, status, path);
    assert.equal((await ask(path, { body, key: null })).status, 401, path);
    assert.equal((await ask(path, { body, key: 'other' })).status, 403, path);
  }
});

test('what is told is what the server really offers', async () => {
  const health = (await (await ask('health')).json()) as Record<string, string>;
  assert.equal(health['status'], 'operational');
  assert.equal(health['docker_image'], 'ghcr.io/render-oss/render-mcp-server');
  const { tool_categories } = (await (await ask('tools')).json()) as { tool_categories: Record<string, string[]> };
  assert.equal(Object.values(tool_categories).flat().length, 21);
  assert.equal(new Set(Object.values(tool_categories).flat()).size, 21);
  assert.equal((await ask('docs')).headers.get('location'), 'https://render.com/docs/mcp-server');
});

test('a key of the wrong form is told all that is wrong with it', async () => {
  const answer = (await (await ask('validate-config', { body: { api_key: 'x' } })).json()) as {
    valid: boolean;
    errors: string[];
    help: string;
  };
  assert.equal(answer.valid, false);
  assert.deepEqual(answer.errors, ['api_key must start with "rnd_"', 'api_key appears too short']);
  assert.ok(answer.help);
});
