import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { send } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** What is open to anybody, and what needs the internal key, on both services. */

let services: Services;
before(async () => {
  services = await startServices();
});
after(() => services.stop());

describe('open to anybody', () => {
  const ROWS: [service: 'web' | 'backend', method: string, path: string, body: unknown, status: number][] = [
    ['web', 'GET', '/api/paygate', undefined, 200],
    ['web', 'POST', '/api/paygate', { action: 'endpoints' }, 200],
    ['web', 'GET', '/api/demo/chat', undefined, 200],
    ['web', 'POST', '/api/demo/chat', { message: 'Hi' }, 200],
    ['web', 'POST', '/api/invites/verify', { token: '0'.repeat(64) }, 404],
    ['web', 'GET', '/install', undefined, 200],
    ['web', 'GET', '/link', undefined, 200],
    ['backend', 'GET', '/install', undefined, 200],
    ['backend', 'GET', '/link', undefined, 200],
    ['web', 'POST', '/api/register', { email: 'a@example.com', password: 'long enough' }, 200],
    ['web', 'POST', '/api/auth/login', { email: 'a@example.com', password: 'long enough' }, 200],
    ['web', 'GET', '/api/auth/session', undefined, 200],
    ['web', 'GET', '/api/agents/clone', undefined, 200],
  ];
  for (const [service, method, path, body, status] of ROWS)
    test(`${service}: ${method} ${path}`, async () => {
      assert.equal((await send(services[service] + path, method, body)).status, status);
    });
});

describe('with the internal key only: 401 without one, 403 with another, before the body is looked at', () => {
  const ROWS: [method: string, path: string][] = [
    ['POST', '/api/deployments'],
    ['GET', '/api/runtime/instances'],
    ['POST', '/api/agents/any/start'],
    ['POST', '/api/agents/any/stop'],
    ['POST', '/api/agents/any/restart'],
    ['POST', '/api/agents/any/update'],
    ['POST', '/api/agents/any/repair'],
    ['POST', '/api/agents/any/reset-memory'],
    ['GET', '/api/ai/health'],
    ['POST', '/api/ai/chat'],
    ['GET', '/api/provision/team/templates'],
    ['GET', '/api/infra-mcp/health'],
  ];
  for (const [method, path] of ROWS)
    test(`${method} ${path}`, async () => {
      const ask = (authorization?: string) =>
        send(
          services.backend + path,
          method,
          method === 'POST' ? {} : undefined,
          authorization ? { authorization } : {},
        );
      for (const missing of [undefined, TEST_SECRETS.internalKey])
        assert.deepEqual(await ask(missing), { status: 401, body: { error: 'Unauthorized' } });
      for (const wrong of ['wrong', `${TEST_SECRETS.internalKey}x`, `sk_${'0'.repeat(64)}`])
        assert.deepEqual(await ask(`Bearer ${wrong}`), { status: 403, body: { error: 'Forbidden' } });
    });

  test('the runtime proxy is exempt: the agent checks its own token', async () => {
    const { status } = await send(`${services.backend}/api/runtime/proxy/nobody/health`, 'GET');
    assert.ok(status !== 401 && status !== 403, String(status));
  });
});
