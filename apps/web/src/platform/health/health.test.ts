import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testWeb, type TestWeb } from '../../testing.ts';

let web: TestWeb;
before(async () => {
  web = await testWeb();
});
after(() => web.stop());

test('without a backend the platform is degraded, and says what is missing', async () => {
  const answer = await web.server.app.inject('/api/health');
  assert.equal(answer.statusCode, 200);
  const { status, health, checks } = answer.json();
  assert.deepEqual(
    { status, health, checks },
    { status: 'ok', health: 'degraded', checks: { database: true, backend: false } },
  );
});

test('the OpenAPI document describes what is served', async () => {
  const document = (await web.server.app.inject('/api/openapi.json')).json();
  assert.equal(document.openapi, '3.1.0');
  assert.ok(document.paths['/api/health'].get.responses['200']);
});

test('the reference names the endpoints of all services', async () => {
  const page = await web.server.app.inject('/docs');
  assert.match(String(page.headers['content-type']), /text\/html/);
  assert.match(page.body, /\/api\/health/);
  assert.match(page.body, /\/api\/infra-mcp\/tools/);
});

test('pool and event loop are measured', async () => {
  const text = (await web.server.app.inject('/metrics')).body;
  assert.match(text, /db_pool_connections \d/);
  assert.match(text, /event_loop_delay_p99_seconds \d/);
});
