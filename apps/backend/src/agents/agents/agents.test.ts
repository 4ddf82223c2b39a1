import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { testUser } from '@troupe/testing/database/server';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { testBackend, type TestBackend } from '../../testing.ts';

let backend: TestBackend;
let base: string;
const userId = 'ann';
before(async () => {
  backend = await testBackend();
  base = await backend.server.listen(0, 'BACKEND_PORT');
  await testUser(backend.deps.db, userId);
});
after(() => backend.stop());

let address = 0;
async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(base + path, {
    method,
    headers: {
      authorization: `Bearer ${TEST_SECRETS.internalKey}`,
      // Each call from elsewhere: rate limits have their own tests.
      'x-client-ip': `10.0.${Math.floor((address += 1) / 250)}.${address % 250}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = text.startsWith('{') || text.startsWith('[');
  // oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
  const read: any = isJson ? JSON.parse(text) : text;
  return { status: response.status, body: read };
}
const as = (id: string) => ({ 'x-user-id': id });
const chat = (id: string, content: string, headers: Record<string, string> = {}) =>
  ask('POST', `/api/runtime/proxy/${id}/v1/chat/completions`, { messages: [{ role: 'user', content }] }, headers);

describe('agents on the backend', () => {
  test('is created pending, on the deprecated plan unless one is named, and cannot be started without one', async () => {
    const created = await ask('POST', '/api/agents', { name: '  Ada  ' });
    assert.equal(created.status, 201);
    const { id } = created.body;
    assert.deepEqual(
      { ...created.body, createdAt: '' },
      {
        id,
        name: 'Ada',
        agentId: id,
        status: 'pending',
        subdomain: `${id}.agents.localhost`,
        url: `https://${id}.agents.localhost`,
        createdAt: '',
      },
    );
    const started = await ask('POST', `/api/agents/${id}/start`);
    assert.equal(started.status, 402);
    assert.equal((await ask('PUT', `/api/agents/${id}`, { plan: 'solo' })).body.plan, 'solo');
    assert.deepEqual((await ask('POST', `/api/agents/${id}/start`)).body, { success: true, status: 'active' });
    const read = await ask('GET', `/api/agents/${id}`);
    assert.equal(read.body.status, 'running');
    assert.equal(read.body.verified, false);
    assert.ok((await ask('GET', '/api/agents')).body.some((one: { id: string }) => one.id === id));
  });

  test('is listed in pages, by the user or of all, newest last', async () => {
    await testUser(backend.deps.db, 'pages');
    const made: string[] = [];
    for (const name of ['One', 'Two', 'Three'])
      made.push((await ask('POST', '/api/agents', { name }, as('pages'))).body.id);
    const ids = ({ body }: { body: { id: string }[] }) => body.map(({ id }) => id);
    assert.deepEqual(ids(await ask('GET', '/api/agents', undefined, as('pages'))), made);
    assert.deepEqual(ids(await ask('GET', '/api/agents?limit=2', undefined, as('pages'))), made.slice(0, 2));
    assert.deepEqual(ids(await ask('GET', '/api/agents?limit=2&offset=2', undefined, as('pages'))), made.slice(2));
    assert.equal(ids(await ask('GET', '/api/agents?limit=2')).length, 2);
    const { instances, count } = (await ask('GET', '/api/runtime/instances?limit=1&offset=1', undefined, as('pages')))
      .body;
    assert.deepEqual([instances.map((one: { agentId: string }) => one.agentId), count], [made.slice(1, 2), 1]);
    // Nobody gets all of a large installation at once.
    await sql`insert into agents (id, user_id, name) select 'many-' || n, 'pages', 'A' from generate_series(1, 1001) n`.execute(
      backend.deps.db.system,
    );
    assert.equal((await ask('GET', '/api/agents')).body.length, 1000);
    assert.equal((await ask('GET', '/api/agents?limit=100000')).body.length, 1000);
    assert.equal((await ask('GET', '/api/runtime/instances')).body.count, 1000);
    await sql`delete from agents where user_id = 'pages'`.execute(backend.deps.db.system);
  });

  test('names what is wrong', async () => {
    assert.deepEqual(await ask('POST', '/api/agents', {}), { status: 400, body: { error: 'Name required' } });
    assert.deepEqual(await ask('POST', '/api/agents', { name: '   ' }), {
      status: 400,
      body: { error: 'Name required' },
    });
    assert.equal(
      (await ask('POST', '/api/agents', { name: 'a', config: { plan: 'gold' } })).body.error,
      'Invalid plan',
    );
    assert.deepEqual(await ask('GET', '/api/agents/none'), { status: 404, body: { error: 'Agent not found' } });
    assert.deepEqual(await ask('POST', '/api/agents/none/restart'), {
      status: 404,
      body: { error: 'Agent not found' },
    });
    assert.deepEqual(await ask('DELETE', '/api/agents/none'), { status: 200, body: { id: 'none', deleted: true } });
    assert.equal((await ask('POST', '/api/deployments', {})).body.error, 'agentId is required');
    assert.equal((await ask('POST', '/api/deployments', { agentId: 'a/b' })).body.error, 'Invalid agentId');
    assert.equal((await fetch(`${base}/api/agents`)).status, 401);
    assert.equal((await ask('GET', '/api/agents', undefined, { authorization: 'Bearer wrong' })).status, 403);
  });

  test('is deployed, answers, is stopped with its data kept, and removed', async () => {
    const config = { name: 'Grace', plan: 'collective', instruction: 'Be brief.' };
    const deployed = await ask('POST', '/api/deployments', { agentId: 'grace', config }, as(userId));
    assert.equal(deployed.status, 201);
    assert.equal(deployed.body.id, 'deploy-grace');
    assert.equal(deployed.body.status, 'running');
    const again = await ask('POST', '/api/deployments', { agentId: 'grace', config }, as(userId));
    assert.equal(again.status, 200);
    assert.deepEqual(again.body, deployed.body);

    const answer = await chat('grace', 'remember the sky is green');
    assert.equal(answer.status, 200);
    assert.match(answer.body.choices[0].message.content, /sandbox/);

    assert.equal((await ask('POST', '/api/agents/grace/stop')).body.status, 'stopped');
    const stopped = await chat('grace', 'hello');
    assert.deepEqual([stopped.status, stopped.body.error.message], [502, 'Agent is not running']);
    assert.equal((await ask('POST', '/api/agents/grace/restart')).body.status, 'active');
    assert.equal((await ask('GET', '/api/runtime/proxy/grace/memory')).body.count, 1);

    const update = await ask('POST', '/api/agents/grace/update', { image: 'Bad Image' });
    assert.deepEqual(update, { status: 400, body: { error: 'Invalid docker image value' } });
    const updated = await ask('POST', '/api/agents/grace/update', {});
    assert.equal(updated.status, 200);
    const image = 'troupe-agent:0.0.0-test';
    const { backupPath, ...told } = updated.body;
    assert.deepEqual(told, {
      success: true,
      status: 'active',
      image,
      previousImage: image,
      runtimeVersion: '0.0.0-test',
    });
    assert.ok(backupPath.includes('grace'));
    const failed = await ask('POST', '/api/agents/grace/update', { image: 'ghcr.io/acme/agent:9' });
    assert.equal(failed.status, 500);
    assert.equal(
      failed.body.error,
      `Update failed, the previous image is running again: Agents in the platform run from ${image} only`,
    );
    assert.ok(existsSync(failed.body.backupPath), 'the backup is there');
    assert.equal((await ask('GET', '/api/agents/grace')).body.status, 'running');
    assert.equal((await ask('GET', '/api/runtime/proxy/grace/memory')).body.count, 1, 'it serves, with its memory');
    await backend.deps.db.system
      .updateTable('agents')
      .set({ image: 'troupe-agent:0.0.0-older', runtime_version: '0.0.0-older' })
      .where('id', '=', 'grace')
      .execute();
    const moved = await ask('POST', '/api/agents/grace/update', { image });
    assert.deepEqual([moved.body.image, moved.body.previousImage], [image, 'troupe-agent:0.0.0-older']);
    assert.equal(moved.body.runtimeVersion, '0.0.0-test');

    assert.equal((await ask('POST', '/api/agents/grace/repair')).body.message, 'Agent repaired successfully');
    assert.equal((await ask('POST', '/api/agents/grace/reset-memory')).body.message, 'Memory reset successfully');
    assert.equal((await ask('GET', '/api/runtime/proxy/grace/memory')).body.count, 0);
    assert.equal((await ask('GET', '/api/runtime/proxy/grace/messages')).body.total, 0);

    const stats = await ask('GET', '/api/runtime/instances/grace/stats');
    assert.equal(stats.body.status, 'running');
    assert.ok((await ask('GET', '/api/runtime/instances')).body.count >= 1);
    assert.deepEqual((await ask('DELETE', '/api/agents/grace')).body, { id: 'grace', deleted: true });
    assert.equal((await chat('grace', 'hello')).status, 404);
  });

  test("belongs to its user: another's is not found", async () => {
    const other = 'ben';
    await testUser(backend.deps.db, other);
    await ask('POST', '/api/deployments', { agentId: 'mine', config: { plan: 'solo' } }, as(userId));
    for (const [method, path] of [
      ['GET', '/api/agents/mine'],
      ['POST', '/api/agents/mine/stop'],
      ['PUT', '/api/agents/mine'],
      ['GET', '/api/agents/mine/verification'],
    ] as const)
      assert.equal((await ask(method, path, method === 'GET' ? undefined : {}, as(other))).status, 404, path);
    assert.equal((await ask('POST', '/api/deployments', { agentId: 'mine' }, as(other))).status, 404);
    const over = await ask('POST', '/api/deployments', { agentId: 'second', config: { plan: 'solo' } }, as(userId));
    assert.equal(over.status, 402);
    assert.equal(over.body.code, 'AGENT_LIMIT_REACHED');
    assert.deepEqual([over.body.current, over.body.limit], [1, 1]);
  });

  test('is verified and no longer', async () => {
    const verified = await ask('POST', '/api/agents/mine/verify', { verificationType: 'eas', attestationUid: '0x1' });
    assert.equal(verified.body.verified, true);
    assert.equal((await ask('GET', '/api/agents/mine')).body.verificationType, 'eas');
    assert.deepEqual(await ask('POST', '/api/agents/mine/verify', { verificationType: 'x' }), {
      status: 400,
      body: { error: 'Invalid verification type' },
    });
    assert.equal((await ask('DELETE', '/api/agents/mine/verify')).body.verified, false);
  });

  test('a team runs from its document', async () => {
    const yaml = 'name: Pair\nagents:\n  lead: {tools: [memory]}\n  helper: {tools: [memory]}\n';
    // What the contract does not have counts for nothing; an agent's own plan does.
    const agents = [{ agentId: 'team_1_abcdef-lead', config: { name: 'lead', plan: 'label' } }];
    const sent = { teamId: 'team_1_abcdef', yaml, plan: 'network', agents };
    const team = await ask('POST', '/api/deployments/team', sent, as(userId));
    assert.deepEqual(
      team.body.agents.map((one: { agentId: string; status: string }) => [one.agentId, one.status]),
      [
        ['team_1_abcdef-lead', 'running'],
        ['team_1_abcdef-helper', 'running'],
      ],
    );
    const plans = await backend.deps.db.system
      .selectFrom('agents')
      .select(['name', 'plan'])
      .where('team_id', '=', 'team_1_abcdef')
      .orderBy('name')
      .execute();
    assert.deepEqual(
      plans.map(({ plan }) => plan),
      ['collective', 'label'],
    );
    const told = await chat('team_1_abcdef-lead', 'tell helper remember the moon');
    assert.equal(told.status, 200);
    assert.equal((await ask('GET', '/api/runtime/proxy/team_1_abcdef-lead/memory')).body.count, 1, 'shared');
  });
});
