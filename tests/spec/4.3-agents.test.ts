import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { askBackend, person, provisioned, send, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
before(async () => {
  services = await startServices();
});
after(() => services.stop());

describe('4.3 agents: what belongs to another user is not found', () => {
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

describe('4.3 agents: one agent from all sides', () => {
  let ann: Person;
  let id: string;
  before(async () => {
    ann = await person(services, { plan: 'label' });
    id = await provisioned(ann);
  });

  test('chat answers for real, keeps its history, and streams when asked', async () => {
    const said = await ann.ask('POST', '/api/chat', { message: 'remember the sky is green', topic: 'sky' });
    assert.equal(said.status, 200);
    assert.deepEqual(
      [said.body.message, said.body.topic, said.body.status],
      ['remember the sky is green', 'sky', 'sent'],
    );
    assert.match(said.body.reply, /sandbox/);
    assert.deepEqual(Object.keys(said.body).sort(), ['id', 'message', 'reply', 'status', 'timestamp', 'topic']);
    const history = await ann.ask('GET', '/api/chat?limit=10');
    assert.deepEqual(Object.keys(history.body).sort(), ['count', 'messages']);
    assert.equal(history.body.count, history.body.messages.length);
    for (const [sender, content] of [
      ['user', said.body.message],
      ['agent', said.body.reply],
    ])
      assert.ok(
        history.body.messages.some((one: Body) => one.sender === sender && one.content === content),
        JSON.stringify(history.body),
      );
    assert.equal((await ann.ask('GET', '/api/chat?limit=1')).body.count, 1);
    assert.deepEqual(await ann.ask('POST', '/api/chat', { message: '  ' }), {
      status: 400,
      body: { error: 'Message required' },
    });
    const nobody = await person(services, { plan: 'solo' });
    assert.deepEqual(await nobody.ask('POST', '/api/chat', { message: 'hi' }), {
      status: 404,
      body: { error: 'No agent deployed' },
    });
    const streamed = await ann.ask('POST', '/api/chat', { message: 'hi' }, { accept: 'text/event-stream' });
    const told = [...String(streamed.body).matchAll(/^event: (\w+)\n(?:id: .*\n)?data: (.*)$/gm)].map(
      ([, event, data]) => ({ event, ...(JSON.parse(data!) as { text?: string; reply?: string }) }),
    );
    const pieces = told.filter(({ event }) => event === 'delta').map(({ text }) => text);
    assert.ok(pieces.length > 1, streamed.body);
    assert.deepEqual([told[0]?.event, told.at(-1)?.event], ['start', 'done']);
    assert.equal(pieces.join(''), told.at(-1)?.reply);
    assert.match(told.at(-1)?.reply ?? '', /sandbox/);
  });

  test('memory is the one that the agent itself reads and writes', async () => {
    const memory = await ann.ask('GET', `/api/memory?agentId=${id}`);
    assert.ok(Object.values(memory.body.memory).some((value) => String(value).includes('green')));
    assert.deepEqual((await ann.ask('POST', '/api/memory', { agentId: id, key: 'pet', memory: 'a fox' })).body, {
      success: true,
      agentId: id,
      key: 'pet',
      saved: true,
    });
    const many = await ann.ask('POST', '/api/memory', { agentId: id, memory: { a: 'x', b: { c: 1 } } });
    assert.deepEqual(many.body.keysUpdated, ['a', 'b']);
    assert.equal((await ann.ask('GET', `/api/memory?agentId=${id}`)).body.memory.pet, 'a fox');
    const keys = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'v']));
    for (const [body, error] of [
      [{ key: 'k', memory: 'v' }, 'agentId required'],
      [{ agentId: id, key: 'k', memory: 'x'.repeat(102_401) }, 'Memory value too large (max 100KB)'],
      [{ agentId: id, memory: keys }, 'Too many memory keys (max 50)'],
    ] as const)
      assert.deepEqual(await ann.ask('POST', '/api/memory', body), { status: 400, body: { error } });
    assert.equal((await ann.ask('GET', '/api/memory')).body.error, 'agentId required');
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
    assert.deepEqual(fewer.body, { instruction: 'Answer in one word.', tools: ['memory'] });
    const { definition } = (await askBackend(services, 'GET', `/api/runtime/proxy/${id}/definition`)).body;
    assert.deepEqual([definition.instruction, definition.tools], ['Answer in one word.', ['memory']]);
    const bad = await ann.ask('PUT', path, { tools: ['crystal ball'] });
    assert.equal(bad.status, 400);
    assert.match(bad.body.error, /^Unknown tool crystal ball\. Known are: filesystem, /);
    assert.deepEqual((await ann.ask('GET', path)).body, fewer.body);
    await ann.ask('PUT', path, before);
  });

  test("the user's default is taken over, an own change stays on top", async () => {
    const { config } = (await ann.ask('GET', '/api/config')).body;
    await ann.ask('POST', '/api/config', { config: { ...config, memory: { maxEntries: 50, ttlDays: 3 } } });
    for (let waited = 0; ; waited += 1) {
      const now = (await ann.ask('GET', `/api/agents/${id}/config`)).body.config.memory;
      if (now.ttlDays === 3) {
        assert.equal(now.maxEntries, 7, 'its own');
        break;
      }
      assert.ok(waited < 100, 'the default was not taken over');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
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

  test('heartbeats are set, read and removed', async () => {
    assert.equal((await ann.ask('GET', `/api/heartbeat?agentId=${id}`)).body.heartbeat.enabled, false);
    const set = await ann.ask('POST', '/api/heartbeat', { agentId: id });
    assert.deepEqual([set.body.heartbeat.frequency, set.body.heartbeat.enabled], ['3h', true]);
    assert.ok(Date.parse(set.body.heartbeat.nextHeartbeat) > Date.now());
    for (const frequency of ['0h', '3w', 'x', 5])
      assert.equal((await ann.ask('POST', '/api/heartbeat', { agentId: id, frequency })).status, 400);
    assert.deepEqual((await ann.ask('DELETE', '/api/heartbeat', { agentId: id })).body, { success: true });
    assert.equal((await ann.ask('DELETE', '/api/heartbeat', {})).body.error, 'agentId required');
  });

  test('instances: by the own id, or by the agent', async () => {
    const read = await ann.ask('GET', `/api/instance/${ann.id}`);
    assert.deepEqual([read.body.status, read.body.agentId], ['running', id]);
    assert.equal((await ann.ask('GET', `/api/instance/${id}/stats`)).body.userId, ann.id);
    for (const [action, status] of [
      ['stop', 'stopped'],
      ['stop', 'stopped'],
      ['start', 'running'],
      ['restart', 'running'],
      ['update', 'running'],
      ['repair', 'running'],
      ['reset-memory', 'running'],
    ] as const) {
      const done = await ann.ask('POST', `/api/instance/${ann.id}/${action}`, {});
      assert.deepEqual([done.status, done.body.success, done.body.status], [200, true, status], action);
    }
    assert.equal((await ann.ask('POST', `/api/instance/${ann.id}/explode`, {})).status, 400);
    const nobody = await person(services, { plan: 'solo' });
    assert.deepEqual((await nobody.ask('GET', `/api/instance/${nobody.id}`)).body, {
      error: 'No instance found. Please deploy first.',
    });
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
