import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { askBackend, person, provisioned, send, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
before(async () => {
  services = await startServices();
});
after(() => services.stop());

describe('4.3 agents: provisioning', () => {
  test('makes an agent that runs, answers and can be talked to over its websocketUrl', async () => {
    const ann = await person(services, { plan: 'collective' });
    const made = await ann.ask('POST', '/api/agents/provision', { name: '  Ada  ' });
    assert.equal(made.status, 201);
    const { agent } = made.body;
    assert.deepEqual(Object.keys(agent).sort(), ['createdAt', 'id', 'model', 'name', 'status', 'websocketUrl']);
    assert.deepEqual(
      [made.body.success, agent.name, agent.status, agent.model],
      [true, 'Ada', 'running', 'claude-opus-4-6'],
    );
    const socket = new WebSocket(agent.websocketUrl);
    const answer = await new Promise<Body>((resolve, reject) => {
      socket.on('open', () => socket.send(JSON.stringify({ type: 'message', content: 'hello there' })));
      socket.on('message', (data) => {
        const message = JSON.parse(String(data));
        if (message.type === 'answer') resolve(message);
      });
      socket.on('error', reject);
    });
    assert.match(answer.content, /hello there/);
    socket.close();

    const list = await ann.ask('GET', '/api/agents');
    assert.deepEqual([list.body.count, list.body.status, list.body.agents[0].id], [1, 'ok', agent.id]);
    const again = await ann.ask('GET', '/api/agents/provision');
    assert.deepEqual([again.body.success, again.body.count], [true, 1]);
    assert.equal((await ann.ask('GET', `/api/agents/${agent.id}`)).body.agent.name, 'Ada');
  });

  test('without a session the list is empty, everything else is 401', async () => {
    assert.deepEqual(await send(`${services.web}/api/agents`, 'GET'), {
      status: 200,
      body: { agents: [], count: 0, hasMore: false, status: 'ok' },
    });
    for (const [method, path] of [
      ['GET', '/api/agents/x'],
      ['PATCH', '/api/agents/x'],
      ['POST', '/api/agents/provision'],
      ['GET', '/api/agents/x/token'],
      ['POST', '/api/chat'],
      ['GET', '/api/memory'],
    ] as const)
      assert.deepEqual(
        await send(services.web + path, method, method === 'GET' ? undefined : {}, {}),
        { status: 401, body: { error: 'Unauthorized' } },
        path,
      );
    assert.deepEqual(await send(`${services.web}/api/provision`, 'POST', {}, {}), {
      status: 401,
      body: { success: false, error: 'Authentication required' },
    });
  });

  test('names: 64 characters of any script, not 65, not none', async () => {
    const ann = await person(services, { plan: 'network' });
    for (const name of ['a'.repeat(64), '🦊'.repeat(64), 'مساعد', ' x '])
      assert.equal((await ann.ask('POST', '/api/agents/provision', { name })).status, 201, name);
    for (const name of [undefined, '', '   ', 7])
      assert.deepEqual(await ann.ask('POST', '/api/agents/provision', { name }), {
        status: 400,
        body: { error: 'Agent name is required' },
      });
    for (const name of ['a'.repeat(65), '🦊'.repeat(65)])
      assert.equal((await ann.ask('POST', '/api/agents/provision', { name })).status, 400);
    const id = await provisioned(ann);
    assert.equal((await ann.ask('PATCH', `/api/agents/${id}`, { name: ' Bea ' })).body.agent.name, 'Bea');
    for (const name of ['', '  ', 'a'.repeat(65)])
      assert.equal((await ann.ask('PATCH', `/api/agents/${id}`, { name })).status, 400);
  });

  test('needs a subscription, and a plan that is part of it', async () => {
    const idle = await person(services, { plan: 'solo', subscriptionStatus: 'inactive' });
    assert.deepEqual(await idle.ask('POST', '/api/agents/provision', { name: 'x' }), {
      status: 403,
      body: { error: 'Active subscription required' },
    });
    const solo = await person(services, { plan: 'solo' });
    assert.deepEqual(await solo.ask('POST', '/api/agents/provision', { name: 'x', tier: 'pro' }), {
      status: 403,
      body: { error: 'Plan collective is not part of your subscription', code: 'PLAN_MISMATCH' },
    });
    assert.equal((await solo.ask('POST', '/api/agents/provision', { name: 'x', tier: 'gold' })).status, 400);
    assert.equal((await solo.ask('POST', '/api/agents/provision', { name: 'x', tier: 'free' })).status, 402);
    await provisioned(solo);
    assert.deepEqual(await solo.ask('POST', '/api/agents/provision', { name: 'x', tier: 'starter' }), {
      status: 429,
      body: { error: 'Agent limit reached for starter tier', current: 1, limit: 1 },
    });
    assert.equal(
      (await solo.ask('POST', '/api/agents/provision', { name: 'x' })).body.error,
      'Agent limit reached for solo plan',
    );
    const admin = await person(services, { isAdmin: true, subscriptionStatus: 'inactive' });
    await provisioned(admin);
  });

  test('1,000 at once against a limit of 3 make exactly 3', async () => {
    const ann = await person(services, { plan: 'collective' });
    const replies = await Promise.all(
      Array.from({ length: 1000 }, () => ann.ask('POST', '/api/agents/provision', { name: 'Ada', tier: 'pro' })),
    );
    const by = Map.groupBy(replies, ({ status }) => status);
    assert.deepEqual([by.size, by.get(201)?.length, by.get(429)?.length], [2, 3, 997]);
    assert.equal((await ann.ask('GET', '/api/agents')).body.count, 3);
  });

  for (const [where, crowd, provision] of [
    ['POST /api/provision', 300, (who: Person) => who.ask('POST', '/api/provision', { autoProvision: true })],
    [
      'POST /api/deployments of the backend',
      1000,
      (who: Person, index: number) =>
        askBackend(
          services,
          'POST',
          '/api/deployments',
          { agentId: `many-${index}`, config: { plan: 'collective' } },
          { 'x-user-id': who.id },
        ),
    ],
  ] as const)
    test(`${crowd} at once by ${where}: exactly 3 as well, and they run`, async () => {
      const ann = await person(services, { plan: 'collective' });
      const replies = await Promise.all(Array.from({ length: crowd }, (_, index) => provision(ann, index)));
      const made = replies.filter(({ status }) => status < 300);
      const refused = replies.filter(({ status }) => status === 402);
      const odd = replies.find(({ status }) => status >= 300 && status !== 402);
      assert.deepEqual([made.length, refused.length], [3, crowd - 3], JSON.stringify(odd));
      for (const { body } of refused)
        assert.deepEqual([body.code, body.current, body.limit], ['AGENT_LIMIT_REACHED', 3, 3]);
      const { agents } = (await ann.ask('GET', '/api/agents')).body;
      assert.deepEqual(
        agents.map((one: Body) => one.status),
        ['running', 'running', 'running'],
      );
    });
});

describe('4.3 POST /api/provision', () => {
  const path = '/api/provision';

  test('makes an agent with its channels, and never tells their tokens', async () => {
    const ann = await person(services, { plan: 'collective' });
    const made = await ann.ask('POST', path, { channelTokenA: 'secret-token-a' });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const { success, userId, subdomain, url, streamKey, liveStreamId, agentId } = made.body;
    assert.deepEqual([success, userId, subdomain], [true, ann.id, `${agentId}.agents.localhost`]);
    assert.equal(url, `https://${subdomain}`);
    assert.ok(streamKey && liveStreamId);
    assert.ok(!JSON.stringify(made.body).includes('secret-token-a'));
    assert.deepEqual((await ann.ask('GET', '/api/settings')).body.instance, { id: agentId, url });
    const config = await ann.ask('GET', `/api/agents/${agentId}/config`);
    assert.equal(config.body.config.channels.channelA.enabled, true);
    const shown = await Promise.all([
      ann.ask('GET', `/api/agents/${agentId}`),
      ann.ask('GET', '/api/agents'),
      ann.ask('GET', `/api/agents/${agentId}/logs`),
      ann.ask('GET', `/api/instance/${agentId}`),
      askBackend(services, 'GET', `/api/runtime/proxy/${agentId}/definition`),
      askBackend(services, 'GET', '/api/runtime/instances'),
    ]);
    for (const { status, body } of [config, ...shown]) {
      assert.equal(status, 200);
      assert.ok(!JSON.stringify(body).includes('secret-token-a'));
    }
    const kept = await services.runtime.db.system
      .selectFrom('agent_channels')
      .select('sealed')
      .where('agent_id', '=', agentId)
      .where('channel', '=', 'channelA')
      .executeTakeFirstOrThrow();
    assert.ok(kept.sealed && !kept.sealed.includes('secret-token-a'), 'encrypted');
    assert.equal((await ann.ask('POST', path, { agentType: 'business' })).status, 200);
    const { status, body } = await ann.ask('POST', path, { autoProvision: true });
    assert.equal(status, 200, JSON.stringify(body));
    const row = await services.runtime.db.system
      .selectFrom('users')
      .select(['instance_id', 'instance_url'])
      .where('id', '=', ann.id)
      .executeTakeFirst();
    assert.deepEqual(row, { instance_id: body.agentId, instance_url: body.url }, 'it stands in the user’s row');
    const over = await ann.ask('POST', path, { autoProvision: true });
    assert.deepEqual(
      [over.status, over.body.success, over.body.code, over.body.current, over.body.limit],
      [402, false, 'AGENT_LIMIT_REACHED', 3, 3],
    );
  });

  test('names what is wrong', async () => {
    const ann = await person(services, { plan: 'solo' });
    for (const [body, status, error, code] of [
      [{}, 400, 'At least one channel token required', undefined],
      [
        { aiProvider: 'acme', autoProvision: true },
        400,
        'Invalid aiProvider. Supported: openrouter, gemini, groq, anthropic, openai, ollama',
        undefined,
      ],
      [
        { plan: 'free', autoProvision: true },
        402,
        'A paid plan is required. Choose a plan at /pricing',
        'PAYMENT_REQUIRED',
      ],
      [{ plan: 'label', autoProvision: true }, 403, 'Plan label is not part of your subscription', 'PLAN_MISMATCH'],
      [
        { skills: ['a', 'b', 'c', 'd'], autoProvision: true },
        400,
        'Too many skills for the solo plan (max 3)',
        undefined,
      ],
    ] as const) {
      const reply = await ann.ask('POST', path, body);
      assert.deepEqual(
        [reply.status, reply.body.error, reply.body.code, reply.body.success],
        [status, error, code, false],
      );
    }
    const idle = await person(services, { plan: 'solo', subscriptionStatus: 'cancelled' });
    assert.deepEqual(await idle.ask('POST', path, { autoProvision: true }), {
      status: 403,
      body: { success: false, error: 'Active subscription required' },
    });
  });
});
