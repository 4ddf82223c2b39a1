import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { WebSocket } from 'ws';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { elsewhere, send, type Reply } from '@troupe/testing/services/people';
import { tokenIn } from '@troupe/testing/services/web';

/** Registering an administrator's address first, and waiting until the owner proves it, made an administrator. */

const BOSSES = ['boss@example.com', 'chief@example.com', 'head@example.com'];
let scene: Scene;
before(async () => {
  scene = await startScene({ BLOB_STORE: 'folder', EMAIL_VERIFICATION: 'on', ADMIN_EMAILS: BOSSES.join(',') });
});
after(() => scene.stop());

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

/** Takes the address, and everything that one can take with it. */
async function squat(email: string) {
  assert.equal((await visit('POST', '/api/register', { email, password: PASSWORD })).status, 200);
  const cookie = (await signIn(email, PASSWORD))!;
  const ask = (method: string, path: string, body?: unknown) => visit(method, path, body, { cookie });
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
    .select(['status', 'failure'])
    .where('id', '=', agentId)
    .executeTakeFirstOrThrow();
  assert.equal(row.status, 'stopped');
  assert.match(row.failure ?? '', /made before your e-mail address was proven/);
  const tasks = await owner.selectFrom('scheduled_tasks').select('enabled').where('user_id', '=', id).execute();
  assert.deepEqual(tasks, [{ enabled: false }]);
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
  const { keys, devices, agents, tasks: ended } = detail as Record<string, number>;
  assert.deepEqual({ keys, devices, agents, ended }, { keys: 1, devices: 1, agents: 1, ended: 1 });
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
