import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@troupe/kernel';
import { TEST_SECRETS, testServer } from '@troupe/testing/http/server';
import { infraRoutes } from './routes.ts';
import { createInfra } from './service.ts';

const { app } = (() => {
  const server = testServer({ service: 'backend' });
  infraRoutes(server, createInfra(systemClock));
  return server;
})();

const headers = { authorization: `Bearer ${TEST_SECRETS.internalKey}` };
const get = (path: string) => app.inject({ url: `/api/infra-mcp/${path}`, headers });
const validate = (payload: object) =>
  app.inject({ method: 'POST', url: '/api/infra-mcp/validate-config', headers, payload });

test('every route needs the internal key', async () => {
  for (const path of ['health', 'info', 'setup', 'tools', 'examples', 'docs', 'github']) {
    assert.equal((await app.inject(`/api/infra-mcp/${path}`)).statusCode, 401, path);
    assert.equal(
      (await app.inject({ url: `/api/infra-mcp/${path}`, headers: { authorization: 'Bearer x' } })).statusCode,
      403,
      path,
    );
  }
});

test('health, info, setup and examples answer with their fields', async () => {
  const fields = async (path: string) => Object.keys((await get(path)).json()).sort();
  assert.deepEqual(await fields('health'), [
    'description',
    'docker_image',
    'documentation',
    'name',
    'official_repo',
    'status',
    'timestamp',
    'version',
  ]);
  assert.deepEqual(await fields('info'), [
    'description',
    'docker_image',
    'documentation',
    'features',
    'maintained_by',
    'name',
    'repository',
    'setup_guide',
    'version',
  ]);
  assert.deepEqual(await fields('setup'), [
    'docker_config_example',
    'documentation_links',
    'quick_start',
    'recommended_approach',
    'title',
  ]);
  assert.deepEqual(Object.keys((await get('examples')).json().examples), [
    'service_management',
    'deployment_monitoring',
    'database_management',
    'monitoring_and_logs',
    'troubleshooting',
  ]);
});

test('the tools come in seven categories of 3, 6, 2, 2, 1, 4 and 3', async () => {
  const { tool_categories } = (await get('tools')).json();
  const sizes = Object.entries(tool_categories as Record<string, string[]>).map(([name, tools]) => [
    name,
    tools.length,
  ]);
  assert.deepEqual(sizes, [
    ['workspaces', 3],
    ['services', 6],
    ['deployments', 2],
    ['logs', 2],
    ['metrics', 1],
    ['postgres', 4],
    ['key_value', 3],
  ]);
});

test('a key is checked for its form', async () => {
  const good = await validate({ api_key: 'rnd_0123456789abcdef' });
  assert.deepEqual([good.statusCode, good.json().valid], [200, true]);
  const cases: [object, string[]][] = [
    [{}, ['api_key is required']],
    [{ api_key: 5 }, ['api_key is required']],
    [{ api_key: 'sk_0123456789abcdefgh' }, ['api_key must start with "rnd_"']],
    [{ api_key: 'rnd_short' }, ['api_key appears too short']],
    [{ api_key: 'short' }, ['api_key must start with "rnd_"', 'api_key appears too short']],
  ];
  for (const [payload, errors] of cases) {
    const bad = await validate(payload);
    assert.equal(bad.statusCode, 400);
    assert.equal(bad.json().valid, false);
    assert.deepEqual(bad.json().errors, errors);
    assert.ok(bad.json().help);
  }
});

test('documentation and source are permanent redirects', async () => {
  const docs = await get('docs');
  assert.deepEqual([docs.statusCode, docs.headers.location], [301, 'https://render.com/docs/mcp-server']);
  const source = await get('github');
  assert.deepEqual(
    [source.statusCode, source.headers.location],
    [301, 'https://github.com/render-oss/render-mcp-server'],
  );
});
