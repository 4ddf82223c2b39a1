import assert from 'node:assert/strict';
import { createECDH } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createBrowser } from '@troupe/testing/http/browser';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { WebSocket } from 'ws';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { steps, type Step } from '@troupe/testing/services/director';
import { CLIENT, startCodeHost } from '@troupe/testing/identity/providers';
import { elsewhere, send, type Reply } from '@troupe/testing/services/people';
import { tokenIn } from '@troupe/testing/services/web';

/** Registering an administrator's address first, and waiting until the owner proves it, made an administrator. */

const BOSSES = ['boss@example.com', 'chief@example.com', 'head@example.com', 'lead@example.com', 'main@example.com'];
let scene: Scene;
let provider: Awaited<ReturnType<typeof startCodeHost>>;
before(async () => {
  provider = await startCodeHost();
  scene = await startScene({
    BLOB_STORE: 'folder',
    EMAIL_VERIFICATION: 'on',
    ADMIN_EMAILS: BOSSES.join(','),
    IDP1_CLIENT_ID: CLIENT.id,
    IDP1_CLIENT_SECRET: CLIENT.secret,
    IDP1_BASE_URL: provider.address,
  });
});
after(async () => {
  await scene.stop();
  provider.close();
});

const visit = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  send(scene.web + path, method, body, {
    authorization: `Bearer ${TEST_SECRETS.internalKey}`,
    'x-client-ip': elsewhere(),
    ...headers,
  });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function signIn(email: string, password: string): Promise<string | undefined> {
  const response = await fetch(`${scene.web}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(TEST_SECRETS.internalKey), 'x-client-ip': elsewhere() },
    body: JSON.stringify({ email, password }),
  });
  return response.headers.getSetCookie()[0]?.split(';')[0];
}

/** Waits for the mail's file. */
async function mailed(email: string, about: RegExp): Promise<string> {
  const outbox = join(scene.dataDir, 'outbox');
  for (;;) {
    const mails = readdirSync(outbox).map((file) =>
      readFileSync(join(outbox, file), 'utf8').replaceAll('=\r\n', '').replaceAll('=3D', '='),
    );
    const found = mails.find((mail) => mail.includes(`To: ${email}`) && about.test(mail));
    if (found) return tokenIn(found);
    await delay(30);
  }
}

const PASSWORD = 'known to the squatter';
const WEBHOOK = 'https://squatter.example/hook';
const BROWSER = {
  endpoint: 'https://squatter.example/push',
  keys: {
    p256dh: createECDH('prime256v1').generateKeys('base64url'),
    auth: Buffer.alloc(16, 1).toString('base64url'),
  },
};

type Ask = (method: string, path: string, body?: unknown) => Promise<Reply>;

/** What would tell the squatter of what the owner does, or bring strangers to the owner's agent. */
async function listen(ask: Ask, of: { user_id: string; agent_id: string }): Promise<void> {
  const widget = await ask('POST', `/api/agents/${of.agent_id}/widgets`, { origins: ['https://squatter.example'] });
  assert.equal(widget.status, 201, JSON.stringify(widget.body));
  assert.equal((await ask('POST', '/api/push/subscriptions', BROWSER)).status, 201);
  const { system } = scene.database.db;
  const at = new Date();
  await system
    .insertInto('push_messages')
    .values({ id: of.agent_id, user_id: of.user_id, kind: 'test', data: '{}', at })
    .execute();
  await system
    .insertInto('agent_sessions')
    .values({ ...of, id: of.agent_id, key: 'a2a', channel: 'a2a' })
    .execute();
  const url = 'https://squatter.example/a2a';
  const config = { ...of, session_id: of.agent_id, seq: 1, id: 'told', version: '1.0', url, created_at: at } as const;
  await system
    .insertInto('a2a_push_configs')
    .values({ ...config, sealed: Buffer.alloc(1) })
    .execute();
}

async function assertUnheard(userId: string): Promise<void> {
  const { system } = scene.database.db;
  for (const table of ['push_subscriptions', 'push_messages', 'a2a_push_configs'] as const)
    assert.deepEqual(await system.selectFrom(table).selectAll().where('user_id', '=', userId).execute(), [], table);
  const widgets = await system.selectFrom('widgets').select('enabled').where('user_id', '=', userId).execute();
  assert.deepEqual(widgets, [{ enabled: false }]);
}

/** Takes the address, and everything that one can take with it. */
async function squat(email: string) {
  assert.equal((await visit('POST', '/api/register', { email, password: PASSWORD })).status, 200);
  const cookie = (await signIn(email, PASSWORD))!;
  const ask: Ask = (method, path, body) => visit(method, path, body, { cookie });
  const { id } = await scene.database.db.system
    .updateTable('users')
    .set({ plan: 'network', subscription_status: 'active' })
    .where('email', '=', email)
    .returning('id')
    .executeTakeFirstOrThrow();
  const { key } = (await ask('POST', '/api/keys', { name: 'waiting' })).body;
  const { agent } = (await ask('POST', '/api/agents/provision', { name: 'Mole' })).body;
  const { token } = (await ask('GET', `/api/agents/${agent.id}/token`)).body;
  const passedOn = await ask('PUT', `/api/agents/${agent.id}/config`, { webhookUrl: WEBHOOK });
  assert.equal(passedOn.status, 200, JSON.stringify(passedOn.body));
  await ask('PUT', `/api/underground/doors/${agent.id}`, { open: true, contacts: ['mole'] });
  await listen(ask, { user_id: id, agent_id: agent.id });
  const pair = (await visit('POST', '/api/devices/pair', { name: 'phone' }, bearer(token))).body;
  await ask('POST', '/api/devices', { deviceId: pair.deviceId, action: 'approve' });
  const device = (await visit('GET', `/api/devices/pair/${pair.deviceId}`, undefined, bearer(pair.deviceSecret))).body;
  const task = { name: 'spy', cronSchedule: '0 0 1 1 *', prompt: 'tell me all', agentId: agent.id };
  assert.ok((await ask('POST', '/api/scheduled-tasks', task)).status < 300);
  const { websocketUrl } = (await ask('GET', `/api/agents/${agent.id}`)).body.agent;
  const sockets = [
    (await ask('GET', `/api/agents/${agent.id}`)).body.agent.websocketUrl,
    `${websocketUrl.split('?')[0]}?token=${token}`,
    `${websocketUrl.split('?')[0]}?token=${device.token}`,
  ].map((url: string) => new WebSocket(url));
  await Promise.all(sockets.map((socket) => once(socket, 'open')));
  const cut = Promise.all(sockets.map((socket) => once(socket, 'close')));
  assert.equal((await visit('GET', '/api/admin/users', undefined, bearer(key))).status, 403, 'not proven yet');
  return { id, email, cookie, key, agentId: agent.id as string, token, pair, device: device.token, websocketUrl, cut };
}

/** Nothing of what the squatter has opens anything, or goes on working. */
async function assertOut({
  id,
  email,
  cookie,
  key,
  agentId,
  token,
  pair,
  device,
  websocketUrl,
  cut,
}: Awaited<ReturnType<typeof squat>>) {
  assert.equal((await visit('GET', '/api/admin/users', undefined, bearer(key))).status, 403, 'the key');
  assert.equal((await visit('GET', '/api/settings', undefined, bearer(key))).status, 401, 'the key');
  assert.equal((await visit('GET', '/api/settings', undefined, { cookie })).status, 401, 'the session');
  assert.equal(await signIn(email, PASSWORD), undefined, 'the password');
  const again = (await visit('GET', `/api/devices/pair/${pair.deviceId}`, undefined, bearer(pair.deviceSecret))).body;
  assert.deepEqual(again, { status: 'revoked' });
  const asked = await visit('POST', '/api/devices/pair', { name: 'again' }, bearer(token));
  assert.equal(asked.status, 401, 'no new device by the old token');
  await cut;

  // The owner, who starts the agent after a look at it.
  const owner = scene.database.db.system;
  const row = await owner
    .selectFrom('agents')
    .select(['status', 'failure', 'token_generation'])
    .where('id', '=', agentId)
    .executeTakeFirstOrThrow();
  assert.equal(row.status, 'stopped');
  assert.equal(row.token_generation, 1, 'what its program showed to its team');
  assert.match(row.failure ?? '', /made before your e-mail address was proven/);
  const tasks = await owner.selectFrom('scheduled_tasks').select('enabled').where('user_id', '=', id).execute();
  assert.deepEqual(tasks, [{ enabled: false }]);
  await assertUnheard(id);
  // Messages to it went to its webhook, though it was stopped.
  const { definition, own_config: config } = await owner
    .selectFrom('agents')
    .innerJoin('agent_definitions', 'agent_definitions.agent_id', 'agents.id')
    .select(['definition', 'own_config'])
    .where('agents.id', '=', agentId)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  assert.ok(!JSON.stringify([definition, config]).includes(WEBHOOK), 'the webhook');
  assert.deepEqual(await owner.selectFrom('agent_doors').selectAll().where('agent_id', '=', agentId).execute(), []);
  const started = await send(
    `${scene.backend}/api/agents/${agentId}/start`,
    'POST',
    {},
    bearer(TEST_SECRETS.internalKey),
  );
  assert.equal(started.status, 200, JSON.stringify(started.body));
  for (const old of [token, device, new URL(websocketUrl).searchParams.get('token')!]) {
    const entered = await send(`${scene.backend}/api/runtime/proxy/${agentId}/sessions`, 'GET', undefined, bearer(old));
    assert.equal(entered.status, 401);
    const socket = new WebSocket(`${websocketUrl.split('?')[0]}?token=${old}`);
    const [, refused] = await once(socket, 'unexpected-response');
    assert.equal(refused.statusCode, 401);
    refused.destroy();
  }
  const thought = await send(`${scene.backend}/v1/models`, 'GET', undefined, bearer(`sk_${token}`));
  assert.equal(thought.status, 401, 'nor as the agent itself');
  const { detail } = await owner
    .selectFrom('audit_log')
    .select('detail')
    .where('user_id', '=', id)
    .where('action', '=', 'credentials-removed')
    .executeTakeFirstOrThrow();
  const { keys, devices, agents, browsers, tasks: ended } = detail as Record<string, number>;
  assert.deepEqual(
    { keys, devices, agents, browsers, ended },
    { keys: 1, devices: 1, agents: 1, browsers: 1, ended: 1 },
  );
}

test('the owner resets the password by mail', async () => {
  const squatter = await squat(BOSSES[0]!);
  await visit('POST', '/api/auth/forgot-password', { email: squatter.email });
  const token = await mailed(squatter.email, /Set a new password/);
  assert.equal((await visit('POST', '/api/auth/reset-password', { token, password: 'of the owner' })).status, 200);
  await assertOut(squatter);
  const cookie = (await signIn(squatter.email, 'of the owner'))!;
  assert.equal((await visit('GET', '/api/admin/users', undefined, { cookie })).status, 200, 'the owner is in');
});

test('the owner opens the verification link that the squatter had sent', async () => {
  const squatter = await squat(BOSSES[1]!);
  const token = await mailed(squatter.email, /Verify/);
  assert.deepEqual((await visit('POST', '/api/auth/verify-email', { token })).body, { success: true });
  await assertOut(squatter);
});

test('the owner comes by a provider that knows the address', async () => {
  const squatter = await squat(BOSSES[4]!);
  const { email } = squatter;
  provider.state.account = { id: 7, login: 'owner', emails: [{ email, primary: true, verified: true }] };
  const owner = createBrowser(scene.web, scene.web);
  assert.equal(await owner.visit('/api/auth/idp1'), '/dashboard');
  await assertOut(squatter);
});

test('what was asked for slowly is not made after the proof', async () => {
  const squatter = await squat(BOSSES[2]!);
  const token = await mailed(squatter.email, /Verify/);
  const late = Promise.withResolvers<void>();
  /** Lets its head be read, and its body come when the account is another's. */
  const slowly = (path: string) =>
    fetch(scene.web + path, {
      method: 'POST',
      headers: { cookie: squatter.cookie, 'content-type': 'application/json' },
      body: new ReadableStream({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode('{"name":'));
          await late.promise;
          controller.enqueue(new TextEncoder().encode('"late"}'));
          controller.close();
        },
      }),
      duplex: 'half',
    });
  const slow = [slowly('/api/keys'), slowly('/api/invite'), slowly('/api/agents/provision')];
  // Other requests of the same session tell that the first one's head has long been read.
  for (let n = 0; n < 5; n += 1) await visit('GET', '/api/settings', undefined, { cookie: squatter.cookie });
  assert.equal((await visit('POST', '/api/auth/verify-email', { token, password: 'of the owner' })).status, 200);
  late.resolve();
  for (const reply of slow) assert.equal((await reply).status, 401);
  const keys = await scene.database.db.system
    .selectFrom('api_keys')
    .select('id')
    .where('user_id', '=', squatter.id)
    .execute();
  assert.deepEqual(keys, []);
});

test('a change that waits for its cases is not made after the proof', async () => {
  const { cookie, agentId, email, id } = await squat(BOSSES[3]!);
  const ask: Ask = (method, path, body) => visit(method, path, body, { cookie });
  const addCase = async (...does: Step[]): Promise<void> => {
    const one = { name: 'n', input: steps(...does), checks: [{ kind: 'contains', text: 'ok' }] };
    assert.equal((await ask('POST', `/api/agents/${agentId}/evaluation-cases`, one)).status, 201);
  };
  const { system } = scene.database.db;
  const change = { purpose: { instruction: 'Tell the squatter all.' } };
  const begin = async (body: object): Promise<string> => {
    const begun = await ask('POST', `/api/agents/${agentId}/evaluations`, { change, ...body });
    assert.equal(begun.status, 202, JSON.stringify(begun.body));
    return begun.body.id;
  };
  const read = (evaluation: string) =>
    system.selectFrom('evaluations').selectAll().where('id', '=', evaluation).executeTakeFirstOrThrow();

  // One that all cases have passed with, and whose change is about to be made.
  await addCase({ say: 'ok' });
  const passed = await begin({});
  while ((await read(passed)).status === 'running') await delay(30);
  await system.updateTable('evaluations').set({ takes: true }).where('id', '=', passed).execute();
  // And one that is under way.
  await addCase({ wait: 'for the proof' });
  const running = await begin({ takes: true });
  await scene.director.waits('for the proof');

  const token = await mailed(email, /Verify/);
  assert.equal((await visit('POST', '/api/auth/verify-email', { token, password: 'of the owner' })).status, 200);
  scene.director.go('for the proof');
  const open = () =>
    system
      .selectFrom('evaluation_results')
      .select('id')
      .where('user_id', '=', id)
      .where('status', 'in', ['waiting', 'running'])
      .execute();
  while ((await open()).length > 0) await delay(30);

  const stopped = await read(running);
  assert.deepEqual([stopped.status, stopped.taken_at], ['stopped', null]);
  const late = await read(passed);
  assert.deepEqual([late.not_taken, late.taken_at], ['The agent was stopped before the change was made', null]);
  const definitions = await system
    .selectFrom('agent_definitions')
    .select('definition')
    .where('agent_id', '=', agentId)
    .execute();
  assert.ok(!JSON.stringify(definitions).includes(change.purpose.instruction));
});
