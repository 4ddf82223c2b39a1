import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { allEndpoints, INSTANCE_ACTIONS, type Endpoint } from '@troupe/contract';
import { askBackend, person, provisioned, send, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** Walks the contract, so that a route which is added later is asked too. */

let services: Services;
let ann: Person;
let ben: Person;
let id: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'label' });
  ben = await person(services, { plan: 'label' });
  id = await provisioned(ann);
  await provisioned(ben);
});
after(() => services.stop());

const all = (service: string): Endpoint[] => allEndpoints().filter((one) => one.service === service);
const named = ({ method, path }: Endpoint): string => `${method} ${path}`;

const CASE = { name: 'c', input: 'hi', checks: [{ kind: 'lacks', text: 'x' }] };
/** Bodies that are right in all but whose agent they are about. */
const BODIES: Record<string, unknown> = {
  'PATCH /api/agents/:id': { name: 'mine' },
  'PUT /api/agents/:id': { name: 'mine' },
  'PUT /api/agents/:id/tags': { tags: ['mine'] },
  'POST /api/agents/:id/messages': { message: 'hi' },
  'POST /api/agents/:id/sessions/:sessionId/branches': { at: 1 },
  'POST /api/agents/:id/verify': { verificationType: 'eas' },
  'POST /api/agents/:id/approvals/:approvalId': { approved: true },
  'POST /api/agents/:id/payments/:paymentId': { decision: 'approve' },
  'POST /api/agents/:id/sessions/:sessionId/skill': { run: 1 },
  'POST /api/agents/:id/visitors/:visitorId/reply': { message: 'hi' },
  'POST /api/agents/:id/evaluation-cases': CASE,
  'PUT /api/agents/:id/evaluation-cases/:caseId': CASE,
  'POST /api/agents/:id/evaluation-cases/from-run': { sessionId: 's', run: 1 },
  'PUT /api/agents/:id/evaluation-gate': { enabled: true },
  'PUT /api/agents/:id/logins/:name': { origin: 'https://shop.example', username: 'u', password: 'p' },
  'POST /api/agents/:id/memory/facts/:factId': { keep: 'all' },
  'PUT /api/agents/:id/channels/:kind': { settings: {}, allowed: ['*'] },
  'PUT /api/agents/:id/mcp-servers/:name/use': { use: false },
};
/** Its path, with names that could be right of everything that is in it. */
const pathOf = ({ path }: Endpoint): string =>
  path.replace(':id', id).replace(':kind', 'email').replaceAll(/:\w+/g, 'x');
/** What some of them want to know, and the others do not look at. */
const QUERY = '?path=notes.txt&q=word';
const bodyOf = (endpoint: Endpoint): unknown =>
  BODIES[named(endpoint)] ?? (endpoint.method === 'GET' || !endpoint.body ? undefined : {});

describe("another user's agent is not found", () => {
  test('on every route of web that names one in its path', async () => {
    const routes = all('web').filter(({ path }) => path.startsWith('/api/agents/:id'));
    assert.ok(routes.length >= 25, String(routes.length));
    for (const route of routes) {
      const path = `${pathOf(route)}${QUERY}`;
      const reply = await ben.ask(route.method, path, bodyOf(route));
      assert.deepEqual(reply, { status: 404, body: { error: 'Agent not found' } }, named(route));
      const nobody = await send(services.web + path, route.method, bodyOf(route));
      assert.equal(nobody.status, 401, named(route));
    }
  });

  test('on every route of web that names one elsewhere', async () => {
    const task = { name: 't', cronSchedule: '* * * * *', prompt: 'p', agentId: id };
    for (const [method, path, body] of [
      ['GET', `/api/memory?agentId=${id}`],
      ['POST', '/api/memory', { agentId: id, key: 'k', memory: 'v' }],
      ['DELETE', '/api/memory', { agentId: id, key: 'k' }],
      ['GET', `/api/heartbeat?agentId=${id}`],
      ['POST', '/api/heartbeat', { agentId: id }],
      ['DELETE', '/api/heartbeat', { agentId: id }],
      ['POST', '/api/chat', { agentId: id, message: 'hi' }],
      ['GET', `/api/chat?agentId=${id}`],
      ['POST', '/api/scheduled-tasks', task],
      ['POST', '/api/compare', { id: 'x', message: 'hi', sides: [{ agentId: id }, { agentId: id }] }],
      ['GET', `/api/instance/${id}`],
      ['GET', `/api/instance/${id}/stats`],
      ...INSTANCE_ACTIONS.map((action) => ['POST', `/api/instance/${id}/${action}`, {}] as const),
    ] as const) {
      const reply = await ben.ask(method, path, body);
      assert.equal(reply.status, 404, `${method} ${path}: ${JSON.stringify(reply.body)}`);
    }
    assert.deepEqual((await ben.ask('GET', `/api/scheduled-tasks?agentId=${id}`)).body.tasks, []);
    // A cap counts for the one who sets it, whatever name it is for: hers are untouched.
    await ben.ask('PUT', '/api/usage/caps', { scope: 'agent', agentId: id, period: 'day', limitUsd: 0 });
    assert.deepEqual((await ann.ask('GET', '/api/usage/caps')).body.caps, []);
    assert.equal((await ann.ask('POST', '/api/chat', { agentId: id, message: 'hi' })).status, 200);
  });

  test('on every route of the backend that names one, for the user in x-user-id', async () => {
    const routes = all('backend').filter(({ path }) => path.startsWith('/api/agents/:id'));
    assert.ok(routes.length >= 16, String(routes.length));
    for (const route of routes) {
      const path = pathOf(route);
      const reply = await askBackend(services, route.method, path, bodyOf(route), { 'x-user-id': ben.id });
      // Deleting is idempotent there: what is not found is deleted, and hers stays.
      if (named(route) === 'DELETE /api/agents/:id') assert.equal(reply.status, 200);
      else assert.deepEqual(reply, { status: 404, body: { error: 'Agent not found' } }, named(route));
    }
    const stats = await askBackend(services, 'GET', `/api/runtime/instances/${id}/stats`, undefined, {
      'x-user-id': ben.id,
    });
    assert.equal(stats.status, 404);
  });

  test('and it is as it was', async () => {
    const { agent } = (await ann.ask('GET', `/api/agents/${id}`)).body;
    assert.deepEqual([agent.name, agent.status, agent.verified], ['Ada', 'running', false]);
    assert.equal((await ann.ask('GET', `/api/agents/${id}/backups`)).body.count, 0);
  });
});

describe('names of agents', () => {
  const right = [
    'a'.repeat(64),
    '🦊'.repeat(64),
    '👩‍🚀'.repeat(21),
    'مساعد العربية',
    'עוזר',
    '助手',
    'O’Neil & <b>co</b>',
    "Robert'); drop table agents;--",
    '  trimmed  ',
  ];
  const missing = ['', ' ', '\t \n', '\u00a0\u2003', null, 7, ['x'], { a: 1 }, undefined];
  const long = ['a'.repeat(65), '🦊'.repeat(65), `${'é'.repeat(64)}x`];
  const broken = ['line\nbreak', 'esc\u001b[2J'];

  test('are kept as they are given, trimmed', async () => {
    const boss = await person(services, { plan: 'network' });
    for (const name of right) {
      const made = await boss.ask('POST', '/api/agents/provision', { name });
      assert.equal(made.status, 201, `${name}: ${JSON.stringify(made.body)}`);
      assert.equal(made.body.agent.name, name.trim());
      const { agent } = (await boss.ask('GET', `/api/agents/${made.body.agent.id}`)).body;
      assert.equal(agent.name, name.trim());
    }
  });

  test('are refused when there is none, it is too long or breaks lines, on every door', async () => {
    for (const [given, [provisioning, error]] of [
      [missing, ['Agent name is required', 'Name required']],
      [long, ['Agent name too long (max 64 chars)', 'Name too long (max 64 chars)']],
      [broken, ['Invalid name', 'Invalid name']],
    ] as const)
      for (const name of given) {
        const about = JSON.stringify(name);
        assert.deepEqual(
          await ben.ask('POST', '/api/agents/provision', { name }),
          { status: 400, body: { error: provisioning } },
          about,
        );
        assert.deepEqual(
          await ann.ask('PATCH', `/api/agents/${id}`, { name }),
          { status: 400, body: { error } },
          about,
        );
        assert.deepEqual(
          await askBackend(services, 'POST', '/api/agents', { name }),
          { status: 400, body: { error } },
          about,
        );
      }
    assert.equal((await ann.ask('GET', `/api/agents/${id}`)).body.agent.name, 'Ada');
  });
});
