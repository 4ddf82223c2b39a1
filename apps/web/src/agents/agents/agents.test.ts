import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { allJobsRan } from '@troupe/testing/database/jobs';
import { askBackend, person, provisioned, send, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
before(async () => {
  services = await startServices();
});
after(() => services.stop());

describe('what belongs to another user is not found', () => {
  test('on every route', async () => {
    const ann = await person(services, { plan: 'solo' });
    const ben = await person(services, { plan: 'solo' });
    const id = await provisioned(ann);
    for (const [method, path, body] of [
      ['GET', `/api/agents/${id}`],
      ['PATCH', `/api/agents/${id}`, { name: 'mine' }],
      ['DELETE', `/api/agents/${id}`],
      ['GET', `/api/agents/${id}/config`],
      ['PUT', `/api/agents/${id}/config`, {}],
      ['GET', `/api/agents/${id}/purpose`],
      ['PUT', `/api/agents/${id}/purpose`, { instruction: 'Obey Ben.' }],
      ['GET', `/api/agents/${id}/logs`],
      ['GET', `/api/agents/${id}/logs/stream`],
      ['GET', `/api/agents/${id}/messages`],
      ['GET', `/api/agents/${id}/stats`],
      ['GET', `/api/agents/${id}/token`],
      ['GET', `/api/agents/${id}/verify`],
      ['POST', `/api/agents/${id}/verify`, { verificationType: 'eas' }],
      ['DELETE', `/api/agents/${id}/verify`],
      ['GET', `/api/memory?agentId=${id}`],
      ['POST', '/api/memory', { agentId: id, key: 'k', memory: 'v' }],
      ['GET', `/api/heartbeat?agentId=${id}`],
      ['POST', '/api/heartbeat', { agentId: id }],
      ['POST', '/api/chat', { agentId: id, message: 'hi' }],
      ['POST', `/api/instance/${id}/stop`],
    ] as const) {
      const reply = await ben.ask(method, path, body);
      assert.equal(reply.status, 404, `${method} ${path}: ${JSON.stringify(reply.body)}`);
    }
    assert.equal((await ben.ask('GET', `/api/instance/${ann.id}`)).status, 403);
    assert.equal((await ann.ask('GET', `/api/agents/${id}`)).body.agent.name, 'Ada');
  });
});

describe('one agent from all sides', () => {
  let ann: Person;
  let id: string;
  before(async () => {
    ann = await person(services, { plan: 'label' });
    id = await provisioned(ann);
    for (const message of ['hello', 'and again'])
      assert.equal((await ann.ask('POST', '/api/chat', { message })).status, 200);
  });

  test('logs, messages and stats are real', async () => {
    const logs = await ann.ask('GET', `/api/agents/${id}/logs?limit=5`);
    assert.deepEqual([logs.body.limit, logs.body.status], [5, 'ok']);
    const messages = await ann.ask('GET', `/api/agents/${id}/messages?limit=2&offset=1`);
    assert.deepEqual([messages.body.messages.length, messages.body.limit, messages.body.offset], [2, 2, 1]);
    assert.ok(messages.body.total >= 4);
    assert.ok(['user', 'agent'].includes(messages.body.messages[0].sender));
    const stats = await ann.ask('GET', `/api/agents/${id}/stats`);
    assert.equal(stats.body.status, 'ok');
    assert.ok(stats.body.stats.messagesProcessed >= 2);
    assert.equal(stats.body.stats.successRate, 100);
  });

  test('a log is followed live', async () => {
    const reading = new AbortController();
    const response = await fetch(`${services.web}/api/agents/${id}/logs/stream`, {
      headers: ann.headers(),
      signal: reading.signal,
    });
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    await askBackend(services, 'POST', `/api/runtime/proxy/${id}/heartbeat`, {});
    let seen = '';
    for await (const piece of response.body!) {
      seen += Buffer.from(piece as Uint8Array).toString();
      if (seen.includes('Heartbeat')) break;
    }
    reading.abort();
    assert.match(seen, /event: log/);
  });

  test('a configuration is taken over at once, and neighbours stay', async () => {
    const before = (await ann.ask('GET', `/api/agents/${id}/config`)).body;
    assert.equal(before.status, 'ok');
    const changed = await ann.ask('PUT', `/api/agents/${id}/config`, { memory: { maxEntries: 7 } });
    assert.equal(changed.body.status, 'updated');
    assert.deepEqual(changed.body.config.memory, { ...before.config.memory, maxEntries: 7 });
    assert.equal(
      (await askBackend(services, 'GET', `/api/runtime/proxy/${id}/config`)).body.config.memory.maxEntries,
      7,
    );
    const bad = await ann.ask('PUT', `/api/agents/${id}/config`, { memory: { maxEntries: 'many' } });
    assert.equal(bad.status, 400);
  });

  test('its instruction and tools are read and changed, and what is left out stays', async () => {
    const path = `/api/agents/${id}/purpose`;
    const before = (await ann.ask('GET', path)).body;
    const changed = await ann.ask('PUT', path, { instruction: 'Answer in one word.' });
    assert.deepEqual([changed.status, changed.body], [200, { ...before, instruction: 'Answer in one word.' }]);
    const fewer = await ann.ask('PUT', path, { tools: ['memory'] });
    assert.deepEqual(fewer.body, { ...before, instruction: 'Answer in one word.', tools: ['memory'] });
    const { definition } = (await askBackend(services, 'GET', `/api/runtime/proxy/${id}/definition`)).body;
    assert.deepEqual([definition.instruction, definition.tools], ['Answer in one word.', ['memory']]);
    const bad = await ann.ask('PUT', path, { tools: ['crystal ball'] });
    assert.equal(bad.status, 400);
    assert.match(bad.body.error, /^Unknown tool crystal ball\. Known are: filesystem, /);
    assert.deepEqual((await ann.ask('GET', path)).body, fewer.body);
    const { instruction, tools } = before;
    assert.equal((await ann.ask('PUT', path, { instruction, tools })).status, 200);
  });

  test('a new one has the same bounds', async () => {
    for (const [config, error] of [
      [{ tools: ['memory', 'crystal ball'] }, /^Unknown tool crystal ball\. Known are: filesystem, /],
      [{ tools: [['memory']] }, /^Invalid config object: tools\.0 /],
      [{ tools: Array(51).fill('memory') }, /^Invalid config object: tools /],
      [{ instruction: 'x'.repeat(50_001) }, /^Invalid config object: instruction /],
    ] as const) {
      const { status, body } = await ann.ask('POST', '/api/agents/provision', { name: 'Bea', config });
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(body.error, error);
    }
  });

  test("the user's default is taken over, an own change stays on top", async () => {
    const { config } = (await ann.ask('GET', '/api/config')).body;
    await ann.ask('POST', '/api/config', { config: { ...config, memory: { maxEntries: 50, ttlDays: 3 } } });
    await allJobsRan(services.runtime.jobs);
    const { memory } = (await ann.ask('GET', `/api/agents/${id}/config`)).body.config;
    assert.deepEqual([memory.ttlDays, memory.maxEntries], [3, 7], 'the default, and its own');
  });

  test('the token opens the gateway, nothing else does', async () => {
    const { token } = (await ann.ask('GET', `/api/agents/${id}/token`)).body;
    assert.match(token, /^[0-9a-f]{64}$/);
    const path = `${services.backend}/api/runtime/proxy/${id}/sessions`;
    assert.equal((await send(path, 'GET', undefined, { authorization: `Bearer ${token}` })).status, 200);
    assert.equal((await send(path, 'GET', undefined, { authorization: `Bearer ${'0'.repeat(64)}` })).status, 401);
    assert.equal((await send(path, 'GET')).status, 401);
  });

  test('a paired device opens the gateway until it is revoked, and is then cut at once', async () => {
    const { token } = (await ann.ask('GET', `/api/agents/${id}/token`)).body;
    const paired = await send(
      `${services.web}/api/devices/pair`,
      'POST',
      { name: 'phone' },
      {
        authorization: `Bearer ${token}`,
      },
    );
    assert.equal(paired.status, 201, JSON.stringify(paired.body));
    const { deviceId, deviceSecret } = paired.body;
    await ann.ask('POST', '/api/devices', { deviceId, action: 'approve' });
    const state = await send(`${services.web}/api/devices/pair/${deviceId}`, 'GET', undefined, {
      authorization: `Bearer ${deviceSecret}`,
    });
    const url = `${services.backend.replace('http', 'ws')}/api/runtime/proxy/${id}/ws`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${state.body.token}` } });
    await once(socket, 'open');
    const cut = once(socket, 'close');
    const revoked = Date.now();
    await ann.ask('POST', '/api/devices', { deviceId, action: 'revoke' });
    await cut;
    assert.ok(Date.now() - revoked < 4000, 'at once, not at the next look');
    const again = await send(`${services.backend}/api/runtime/proxy/${id}/sessions`, 'GET', undefined, {
      authorization: `Bearer ${state.body.token}`,
    });
    assert.equal(again.status, 401);
  });

  test('verification', async () => {
    const verified = await ann.ask('POST', `/api/agents/${id}/verify`, {
      verificationType: 'coinbase',
      verified: false,
      verifierAddress: '0xabc',
      metadata: { by: 'us' },
    });
    assert.deepEqual([verified.body.verified, verified.body.verificationType], [true, 'coinbase']);
    const read = await ann.ask('GET', `/api/agents/${id}/verification`);
    assert.deepEqual(read.body, (await ann.ask('GET', `/api/agents/${id}/verify`)).body);
    assert.deepEqual(read.body.metadata, { by: 'us' });
    assert.deepEqual(await ann.ask('POST', `/api/agents/${id}/verify`, { verificationType: 'post' }), {
      status: 400,
      body: { error: 'Invalid verification type' },
    });
    assert.equal((await ann.ask('DELETE', `/api/agents/${id}/verify`)).body.verified, false);
  });

  test('tags are the owner’s words, once each, and in every list', async () => {
    const put = (body: unknown, who = ann) => who.ask('PUT', `/api/agents/${id}/tags`, body);
    assert.deepEqual(await put({ tags: [' press ', 'Label', 'label', 'ДОМ'] }), {
      status: 200,
      body: { success: true, tags: ['press', 'label', 'ДОМ'] },
    });
    const tagsIn = async (path: string) =>
      (await ann.ask('GET', path)).body.agents.find((agent: Body) => agent.id === id).tags;
    assert.deepEqual(await tagsIn('/api/agents'), ['press', 'label', 'ДОМ']);
    assert.deepEqual((await ann.ask('GET', `/api/agents/${id}`)).body.agent.tags, ['press', 'label', 'ДОМ']);
    for (const [tags, error] of [
      [[''], 'A tag has 1 to 32 characters'],
      [['x'.repeat(33)], 'A tag has 1 to 32 characters'],
      [['a\nb'], 'A tag has 1 to 32 characters'],
      [Array.from({ length: 11 }, (_, index) => `${index}`), 'At most 10 tags'],
    ] as const)
      assert.deepEqual(await put({ tags }), { status: 400, body: { error } });
    const bob = await person(services, { plan: 'label' });
    assert.equal((await put({ tags: ['mine'] }, bob)).status, 404);
    assert.deepEqual((await put({ tags: [] })).body.tags, []);
  });

  test('another agent of the same kind: what it is, not what it has lived', async () => {
    const made = await ann.ask('POST', '/api/agents/provision', {
      name: 'Ä'.repeat(64),
      config: { instruction: 'Say only yes.', tools: ['think'], heartbeat: { intervalMinutes: 77 } },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const from = made.body.agent.id;
    await ann.ask('PUT', `/api/agents/${from}/tags`, { tags: ['yes'] });
    const copied = await ann.ask('POST', `/api/agents/${from}/duplicate`, {});
    assert.equal(copied.status, 201, JSON.stringify(copied.body));
    const copy = copied.body.agent;
    assert.notEqual(copy.id, from);
    assert.equal(copy.name, `${'Ä'.repeat(59)} copy`);
    const [purpose, config, shown] = await Promise.all(
      ['/purpose', '/config', ''].map(async (part) => (await ann.ask('GET', `/api/agents/${copy.id}${part}`)).body),
    );
    assert.deepEqual([purpose.instruction, purpose.tools], ['Say only yes.', ['think']]);
    assert.deepEqual(config.config, (await ann.ask('GET', `/api/agents/${from}/config`)).body.config);
    assert.deepEqual(shown.agent.tags, ['yes']);
    const named = await ann.ask('POST', `/api/agents/${from}/duplicate`, { name: 'Yea' });
    assert.equal(named.body.agent.name, 'Yea');
    const bob = await person(services, { plan: 'label' });
    assert.equal((await bob.ask('POST', `/api/agents/${from}/duplicate`, {})).status, 404);
    for (const one of [from, copy.id, named.body.agent.id])
      assert.equal((await ann.ask('DELETE', `/api/agents/${one}`)).status, 200);
  });

  test('cloning is not there, and says so', async () => {
    assert.equal((await send(`${services.web}/api/agents/clone`, 'POST', { any: 1 }, {})).status, 501);
    assert.equal((await send(`${services.web}/api/agents/clone`, 'GET')).body.available, false);
  });

  test('deleting is final; a second time it is not found', async () => {
    assert.deepEqual((await ann.ask('DELETE', `/api/agents/${id}`)).body, { success: true, deleted: id });
    assert.deepEqual(await ann.ask('DELETE', `/api/agents/${id}`), { status: 404, body: { error: 'Agent not found' } });
  });
});
