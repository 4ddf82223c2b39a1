import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { elsewhere } from '@troupe/testing/services/people';
import { sendRaw } from '@troupe/testing/http/raw';

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

/** A page on the internet whose name leads to 127.0.0.1 read and wrote the installation's configuration. */
test('a name that is not ours is answered with 421 by every service, upgrades included', async () => {
  const evil = { host: 'evil.example' };
  for (const base of [scene.web, scene.backend, scene.summarizer])
    for (const path of ['/api/config', '/metrics', '/api/installations', '/health', '/', '/nothing']) {
      const { status, text } = await sendRaw(base, { path, headers: { ...evil, 'x-user-id': scene.attacker.id } });
      assert.equal(status, 421, `${base}${path}`);
      assert.match(text, /host name is not answered here: open http/);
    }
  assert.match(await upgradeStatus(scene.backend, 'evil.example'), /^HTTP\/1\.1 421 /);
  assert.match(await upgradeStatus(scene.backend, new URL(scene.backend).host), /^HTTP\/1\.1 40\d /);
});

test('the names of this machine, of BASE_URL and of the agents are answered', async () => {
  const { port } = new URL(scene.web);
  for (const host of [
    `localhost:${port}`,
    'LOCALHOST',
    `127.0.0.1:${port}`,
    `[::1]:${port}`,
    '127.1.2.3',
    'localhost.',
  ])
    assert.equal((await sendRaw(scene.web, { path: '/api/health', headers: { host } })).status, 200, host);
  const host = `${scene.attacker.agentId}.agents.localhost`;
  assert.equal((await sendRaw(scene.backend, { path: '/health', headers: { host } })).status, 200);
});

/** A proxy looked at one of them, the platform at the other: which of the two was checked was a matter of luck. */
test('a request that names two hosts is refused by every service, upgrades included', async () => {
  const { agentId } = scene.attacker;
  for (const base of [scene.web, scene.backend, scene.summarizer])
    for (const [path, second] of [
      ['/api/health', 'evil.example'],
      ['/health', new URL(base).host],
      [`/api/runtime/proxy/${agentId}/health`, 'evil.example'],
    ] as const) {
      const answer = await firstWords(
        base,
        `GET ${path} HTTP/1.1\r\nHost: ${new URL(base).host}\r\nhOST: ${second}\r\n\r\n`,
      );
      assert.match(answer, /^HTTP\/1\.1 400 [^]*"A request must have one Host header"/, `${base}${path}`);
    }
  const { host } = new URL(scene.backend);
  assert.match(await upgradeStatus(scene.backend, `${host}\r\nhost: evil.example`), /^HTTP\/1\.1 400 /);
});

const upgradeStatus = (base: string, host: string): Promise<string> =>
  firstWords(
    base,
    `GET /api/runtime/proxy/${scene.attacker.agentId}/ws HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  );

/** What is answered to exactly these bytes. */
function firstWords(base: string, words: string): Promise<string> {
  const { port } = new URL(base);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(words));
    socket.once('data', (data) => {
      resolve(String(data));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

/** `DELETE /api/agents/<own>/backups/%2e%2e` deleted the agent. */
test('dots as a part of the path are refused, and delete nothing', async () => {
  const { agentId, cookie, ask } = scene.attacker;
  const headers = {
    cookie,
    authorization: `Bearer ${TEST_SECRETS.internalKey}`,
    'x-client-ip': elsewhere(),
  };
  // The last are those that a proxy before us undoes, chooses by, and passes on as they came.
  for (const dots of ['%2e%2e', '..', '.%2E', '%2e', '.', '%2E%2e/', 'x%2f..%2f..%2fv1', '..%5Cx', 'x%2F%2e%2e'])
    for (const base of [scene.web, scene.backend]) {
      const path = `/api/agents/${agentId}/backups/${dots}`;
      const { status, text } = await sendRaw(base, { method: 'DELETE', path, headers });
      assert.deepEqual([status, text], [400, '{"error":"A part of the path must not be \\".\\" or \\"..\\""}'], path);
    }
  assert.equal((await ask('GET', `/api/agents/${agentId}`)).status, 200);
});

/** Nobody answered this, ever, and nobody had to be signed in to ask. */
test('an address of the proxy without an agent is answered', async () => {
  for (const path of ['//x', '/%20/x', '//', '/!/'])
    for (const method of ['GET', 'POST']) {
      const { status } = await sendRaw(scene.backend, { method, path: `/api/runtime/proxy${path}`, timeout: 3000 });
      assert.equal(status, 404, path);
    }
  const { agentId } = scene.attacker;
  for (const path of [`/${agentId}//`, `/${agentId}//x`, `/${agentId}//[`]) {
    const { status } = await sendRaw(scene.backend, { path: `/api/runtime/proxy${path}`, timeout: 3000 });
    assert.ok(status === 400 || status === 401, `${path}: ${status}`);
  }
});

/** The connection stayed open with the rest of the body in it: the next request on it hung for 65 seconds. */
test('a body that is too large costs the next request nothing', async () => {
  const { agentId } = scene.attacker;
  const token = await scene.attacker.token();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const path = `/api/runtime/proxy/${agentId}`;
  for (const size of [1_048_577, 3_000_000]) {
    const large = await sendRaw(scene.backend, {
      method: 'POST',
      path: `${path}/execute`,
      headers,
      body: 'x'.repeat(size),
      agent,
    });
    assert.deepEqual([large.status, large.headers.connection], [413, 'close']);
    const next = await sendRaw(scene.backend, { path: `${path}/stats`, headers, agent, timeout: 3000 });
    assert.equal(next.status, 200, next.text);
  }
  agent.destroy();
});
