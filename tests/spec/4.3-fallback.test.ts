import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { createBackend } from '@troupe/backend';
import { testRuntime } from '@troupe/testing/database/runtime';
import { closeAll, type Env } from '@troupe/kernel';
import { createWeb } from '@troupe/web';
import { askBackend, person, type Body } from '@troupe/testing/services/people';

/** Something outside that answers as it is told, and remembers what it was asked. */
async function standIn(answer: (method: string, path: string) => { status: number; body: string }) {
  const asked: { call: string; body: Body; headers: IncomingMessage['headers'] }[] = [];
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const piece of request) text += String(piece);
    const { method = '', url = '' } = request;
    asked.push({ call: `${method} ${url}`, body: text ? JSON.parse(text) : undefined, headers: request.headers });
    const { status, body } = answer(method, url);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
  const server = createServer((request, response) => void reply(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.toReversed()) await close();
});

const NOWHERE = 'http://127.0.0.1:9';

/** Web whose first backend is `backendUrl`, and a real backend beside it. */
async function start(env: Env, backendUrl?: string) {
  const runtime = await testRuntime(env);
  const deps = { ...runtime, version: '0.0.0-test' };
  const backend = await createBackend({ ...deps, url: 'http://127.0.0.1:3001' });
  const real = await backend.server.listen(0, 'BACKEND_PORT');
  const web = await createWeb({ ...deps, url: 'http://127.0.0.1:3000', backendUrl: backendUrl ?? real });
  const address = await web.server.listen(0, 'WEB_PORT');
  closing.push(() => closeAll([runtime, backend, web]));
  return { web: address, backend: real, runtime, stop: async () => {} };
}

describe('provisioning when something is down', () => {
  test('the kill switch closes every door', async () => {
    const services = await start({ PROVISIONING_DISABLED: 'true' });
    const ann = await person(services, { plan: 'network' });
    const error = 'Provisioning is temporarily disabled. Contact support.';
    assert.deepEqual(await ann.ask('POST', '/api/provision', { autoProvision: true }), {
      status: 503,
      body: { success: false, error },
    });
    assert.deepEqual(await ann.ask('POST', '/api/agents/provision', { name: 'x' }), { status: 503, body: { error } });
    assert.deepEqual(await ann.ask('POST', '/api/provision/team', { plan: 'network' }), {
      status: 503,
      body: { error },
    });
    const yaml = 'name: Pair\nagents:\n  lead: {tools: [think]}\n';
    for (const [path, body] of [
      ['/api/deployments', { agentId: 'x', config: {} }],
      ['/api/deployments/team', { teamId: 'team_1_abcdef', yaml }],
      ['/api/provision', { autoProvision: true }],
    ] as const) {
      const refused = await askBackend(services, 'POST', path, body, { 'x-user-id': ann.id });
      assert.deepEqual([refused.status, refused.body.error], [503, error], path);
    }
    assert.equal((await askBackend(services, 'GET', '/health')).body.provisioning, 'disabled');
    assert.equal((await ann.ask('GET', '/api/agents')).body.count, 0);
  });

  test('a backend that is away or answers with no JSON gives way to the second one', async () => {
    const broken = await standIn(() => ({ status: 200, body: '<html>' }));
    const second = await start({});
    const services = await start({ BACKEND_FALLBACK_URL: second.backend }, broken.url);
    const ann = await person(services, { plan: 'solo' });
    // The two test backends have databases of their own; the second knows the user too.
    await second.runtime.db.system
      .insertInto('users')
      .values({
        id: ann.id,
        email: ann.email,
        name: 'Ann',
        referral_code: ann.id,
        created_at: new Date(),
        updated_at: new Date(),
      })
      .execute();
    const made = await ann.ask('POST', '/api/provision', { autoProvision: true });
    assert.equal(broken.asked.length, 1);
    assert.equal(broken.asked[0]!.headers['x-user-email'], ann.email);
    assert.equal(broken.asked[0]!.headers['x-user-id'], ann.id);
    assert.equal(
      (await second.runtime.db.system.selectFrom('agents').select('id').execute()).length,
      1,
      JSON.stringify(made.body),
    );
  });

  test('then the hosting platform: service, environment, domain, deployment, in this order', async () => {
    const hosting = await standIn((method, url) => ({
      status: 201,
      body:
        method === 'POST' && url === '/v1/services'
          ? JSON.stringify({ service: { id: 'srv-1' } })
          : method === 'GET'
            ? '[]'
            : '{}',
    }));
    const services = await start(
      { HOSTING_API_URL: hosting.url, HOSTING_API_KEY: 'rnd_key', HOSTING_OWNER_ID: 'own' },
      NOWHERE,
    );
    const ann = await person(services, { plan: 'solo' });
    const wish = {
      channelTokenA: 'secret-a',
      name: 'Marie',
      instruction: 'Sail.',
      model: 'openai/gpt-4o-mini',
      skills: ['knots'],
      aiProvider: 'openai',
      apiKey: 'own-key',
    };
    const greedy = await ann.ask('POST', '/api/provision', { ...wish, skills: Array(200).fill('x') });
    assert.equal(greedy.status, 400);
    assert.match(greedy.body.error, /^Too many skills for the solo plan/);
    const made = await ann.ask('POST', '/api/provision', wish);
    assert.equal(made.status, 200, JSON.stringify(made.body));
    assert.equal(made.body.status, 'deploying');
    for (const field of ['subdomain', 'streamKey', 'liveStreamId']) assert.equal(made.body[field], undefined);
    assert.deepEqual(
      hosting.asked.slice(1).map(({ call }) => call),
      [
        'POST /v1/services',
        'PUT /v1/services/srv-1/env-vars',
        'POST /v1/services/srv-1/custom-domains',
        'POST /v1/services/srv-1/deploys',
      ],
    );
    const env = JSON.stringify(hosting.asked[2]!.body);
    assert.ok(env.includes('secret-a'), 'the agent needs its channel');
    const { disk } = hosting.asked[1]!.body.serviceDetails;
    assert.ok(hosting.asked[2]!.body.some((one: Body) => one.key === 'DATA_DIR' && one.value === disk.mountPath));
    const told = JSON.parse(hosting.asked[2]!.body.find((one: Body) => one.key === 'AGENT_DEFINITION').value) as Body;
    assert.deepEqual([told.name, told.instruction, told.config.skills], ['Marie', 'Sail.', ['knots']]);
    assert.deepEqual([told.config.model.default, told.config.channels.channelA.enabled], ['openai/gpt-4o-mini', true]);
    assert.ok(!env.includes('own-key'), 'the key of its provider stays with the platform');
    const { internalKey, sessionSecret, walletKey } = services.runtime.secrets;
    for (const secret of [internalKey, sessionSecret, walletKey])
      assert.ok(!env.includes(secret), 'no secret of the platform');
    const over = await ann.ask('POST', '/api/provision', { channelTokenA: 'b' });
    assert.deepEqual([over.status, over.body.code], [402, 'AGENT_LIMIT_REACHED']);
  });

  test('what is there is told, stopped, started and deleted there, and never runs here as well', async () => {
    let suspended = 'not_suspended';
    let deploy = 'build_in_progress';
    let exists = false;
    const hosting = await standIn((method, url) => {
      const call = `${method} ${url.split('?')[0]}`;
      if (call === 'POST /v1/services') exists = true;
      if (call === 'DELETE /v1/services/srv-1') exists = false;
      if (call === 'POST /v1/services/srv-1/suspend') suspended = 'suspended';
      if (call === 'POST /v1/services/srv-1/resume') suspended = 'not_suspended';
      const service = { id: 'srv-1', suspended, serviceDetails: { url: hosting.url } };
      const body = {
        'POST /v1/services': { service },
        'GET /v1/services': exists ? [{ service }] : [],
        'GET /v1/services/srv-1/deploys': [{ deploy: { status: deploy } }],
        'GET /sessions': { sessions: [], count: 0 },
        'GET /stats': { stats: { runs: 4, failed: 1, lastHour: 2, averageMs: 30 } },
      }[call];
      return { status: 200, body: JSON.stringify(body ?? {}) };
    });
    // Web finds no backend; the backend beside it comes back later.
    const services = await start({ HOSTING_API_URL: hosting.url, HOSTING_API_KEY: 'rnd_key' }, NOWHERE);
    const ann = await person(services, { plan: 'solo' });
    const { agentId } = (await ann.ask('POST', '/api/provision', { autoProvision: true })).body;
    const status = async () => (await ann.ask('GET', `/api/agents/${agentId}`)).body.agent.status;
    assert.equal(await status(), 'provisioning');
    deploy = 'live';
    const untilItRuns = async () => {
      for (let tries = 0; (await status()) !== 'running'; tries += 1) {
        assert.ok(tries < 150, 'it is told when it runs');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    await untilItRuns();
    const act = (action: string) => askBackend(services, 'POST', `/api/agents/${agentId}/${action}`, {});
    assert.equal((await act('stop')).body.status, 'stopped');
    assert.equal(suspended, 'suspended');
    const configure = (maxEntries: number) =>
      askBackend(services, 'PUT', `/api/agents/${agentId}`, { config: { memory: { maxEntries } } });
    await configure(6);
    assert.equal((await act('start')).body.status, 'active');
    assert.equal(suspended, 'not_suspended');
    assert.equal(await status(), 'provisioning', 'it does not serve yet');
    await untilItRuns();
    const last = hosting.asked.findLast(({ call }) => call === 'PUT /definition')!;
    assert.equal(last.body.config.memory.maxEntries, 6, 'it starts with what was changed meanwhile');
    const { token } = (await ann.ask('GET', `/api/agents/${agentId}/token`)).body;
    const before = hosting.asked.length;
    const backups = await askBackend(services, 'GET', `/api/agents/${agentId}/backups`);
    assert.deepEqual(backups.body, { backups: [], count: 0, limit: 10 });
    for (const path of ['backups', 'update'])
      assert.deepEqual(
        await askBackend(services, 'POST', `/api/agents/${agentId}/${path}`, {}),
        {
          status: 409,
          body: {
            error:
              'The hosting platform gives no way to copy an agent’s data: it cannot be backed up, restored or updated there',
          },
        },
        path,
      );
    assert.equal(await status(), 'running');
    assert.equal(hosting.asked.length, before, 'nothing was done there');

    assert.equal((await act('reset-memory')).body.message, 'Memory reset successfully');
    await configure(7);
    const told = hosting.asked.slice(before).filter(({ call }) => ['POST /reset', 'PUT /definition'].includes(call));
    assert.deepEqual(
      told.map(({ call, headers }) => [call, headers.authorization]),
      [
        ['POST /reset', `Bearer ${token}`],
        ['PUT /definition', `Bearer ${token}`],
      ],
    );
    assert.equal(told[1]!.body.config.memory.maxEntries, 7);
    const stats = await askBackend(services, 'GET', `/api/runtime/instances/${agentId}/stats`);
    assert.deepEqual([stats.body.messagesProcessed, stats.body.errorRate], [4, 25]);
    const { instances } = (await askBackend(services, 'GET', '/api/runtime/instances')).body;
    assert.equal(instances[0].metadata.driver, 'hosting');
    const read = await askBackend(services, 'GET', `/api/runtime/proxy/${agentId}/sessions`, undefined, {
      authorization: `Bearer ${token}`,
    });
    assert.deepEqual(read.body, { sessions: [], count: 0 }, 'its gateway is there');

    const web = async (method: string, path: string, bearer: string, body?: object) => {
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
      const reply = await fetch(services.web + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      return (await reply.json()) as Body;
    };
    const { deviceId, deviceSecret } = await web('POST', '/api/devices/pair', token, { name: 'Phone' });
    await ann.ask('POST', '/api/devices', { deviceId, action: 'approve' });
    const device = (await web('GET', `/api/devices/pair/${deviceId}`, deviceSecret)).token;
    const entered = await askBackend(services, 'GET', `/api/runtime/proxy/${agentId}/sessions`, undefined, {
      authorization: `Bearer ${device}`,
    });
    assert.equal(entered.status, 200);
    const made = hosting.asked.find(({ call }) => call === 'PUT /v1/services/srv-1/env-vars')!.body as Body[];
    const guest = made.find(({ key }) => key === 'MEMBER_TOKEN')!.value as string;
    assert.equal(hosting.asked.at(-1)!.headers.authorization, `Bearer ${guest}`, 'a device is a guest there');
    assert.equal((await askBackend(services, 'DELETE', `/api/agents/${agentId}`)).status, 200);
    assert.equal(exists, false);
  });

  for (const [fault, at, answer] of [
    ['the environment is refused', 'PUT /v1/services/srv-1/env-vars', { status: 400, body: '{}' }],
    ['the domain is refused', 'POST /v1/services/srv-1/custom-domains', { status: 409, body: '{}' }],
    ['the deployment fails', 'POST /v1/services/srv-1/deploys', { status: 500, body: 'oops' }],
    ['it answers no JSON', 'POST /v1/services', { status: 201, body: '<html>' }],
    ['it answers without a service', 'POST /v1/services', { status: 201, body: '{}' }],
    ['the key is wrong', 'GET /v1/services', { status: 401, body: '{}' }],
  ] as const)
    test(`the hosting platform: ${fault}: 502, and nothing is left, here or there`, async () => {
      const hosting = await standIn((method, url) => {
        const call = `${method} ${url.split('?')[0]}`;
        if (call === at) return answer;
        if (call === 'GET /v1/services') return { status: 200, body: '[]' };
        return { status: 201, body: JSON.stringify({ service: { id: 'srv-1' } }) };
      });
      const services = await start({ HOSTING_API_URL: hosting.url, HOSTING_API_KEY: 'rnd_key' }, NOWHERE);
      const ann = await person(services, { plan: 'solo' });
      const failed = await ann.ask('POST', '/api/provision', { autoProvision: true });
      assert.deepEqual(failed, {
        status: 502,
        body: { success: false, error: 'Provisioning failed: no backend could be reached' },
      });
      assert.equal((await ann.ask('GET', '/api/agents')).body.count, 0);
      const made = at.includes('srv-1');
      assert.equal(
        hosting.asked.some(({ call }) => call === 'DELETE /v1/services/srv-1'),
        made,
      );
    });

  test('all ways failed: 502, and nothing is left behind', async () => {
    const hosting = await standIn(() => ({ status: 500, body: '{}' }));
    const services = await start({ HOSTING_API_URL: hosting.url, HOSTING_API_KEY: 'rnd_key' }, NOWHERE);
    const ann = await person(services, { plan: 'solo' });
    const failed = await ann.ask('POST', '/api/provision', { autoProvision: true });
    assert.deepEqual([failed.status, failed.body.success], [502, false]);
    assert.equal((await ann.ask('GET', '/api/agents')).body.count, 0);
  });

  test('an agent whose deployment fails is in error, does not count, and its figures are empty', async () => {
    const services = await start({}, NOWHERE);
    const ann = await person(services, { plan: 'solo' });
    const failed = await ann.ask('POST', '/api/agents/provision', { name: 'x' });
    assert.equal(failed.status, 502);
    assert.equal((await ann.ask('POST', '/api/agents/provision', { name: 'x' })).status, 502, 'not 429');
    const [agent] = (await ann.ask('GET', '/api/agents')).body.agents;
    assert.equal(agent.status, 'error');
    const stats = await ann.ask('GET', `/api/agents/${agent.id}/stats`);
    assert.deepEqual([stats.body.status, stats.body.stats.cpu], ['mock', null]);
    assert.deepEqual(await ann.ask('POST', `/api/instance/${ann.id}/start`, {}), {
      status: 502,
      body: { success: false, status: 'error', error: 'Agent backend unavailable' },
    });
  });

  test('a name that the backend cannot take is not taken, and the caller is told', async () => {
    const services = await start({}, NOWHERE);
    const ann = await person(services, { plan: 'solo' });
    await ann.ask('POST', '/api/agents/provision', { name: 'before' });
    const [agent] = (await ann.ask('GET', '/api/agents')).body.agents;
    const refused = await ann.ask('PATCH', `/api/agents/${agent.id}`, { name: 'after' });
    assert.deepEqual([refused.status, refused.body.error], [502, 'Agent backend unavailable']);
    assert.equal((await ann.ask('GET', '/api/agents')).body.agents[0].name, 'before');
  });

  test('live streams are real where there are credentials', async () => {
    const mux = await standIn(() => ({
      status: 201,
      body: JSON.stringify({ data: { id: 'live1', stream_key: 'key1', playback_ids: [{ id: 'play1' }] } }),
    }));
    const services = await start({
      LIVESTREAM_TOKEN_ID: 'id',
      LIVESTREAM_TOKEN_SECRET: 'secret',
      LIVESTREAM_API_BASE: mux.url,
    });
    const ann = await person(services, { plan: 'solo' });
    const made = await ann.ask('POST', '/api/provision', { autoProvision: true });
    assert.deepEqual([made.body.streamKey, made.body.liveStreamId], ['key1', 'live1']);
    assert.equal(mux.asked[0]!.call, 'POST /video/v1/live-streams');
    assert.deepEqual(mux.asked[0]!.body.playback_policy, ['public']);
  });
});
