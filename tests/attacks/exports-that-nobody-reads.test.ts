import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** Two accounts that began an export and read nothing of it kept everybody else from theirs for as long as they liked. */

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const FILE = Buffer.alloc(10_000_000, 1);

async function begun({ cookie }: { cookie: string }): Promise<Socket> {
  const { hostname, port, host } = new URL(scene.web);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`GET /api/account/export HTTP/1.1\r\nhost: ${host}\r\ncookie: ${cookie}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  assert.match(head.toString('latin1'), /^HTTP\/1\.1 200 /);
  socket.pause();
  return socket;
}

test('exports that nobody reads keep nobody from an export', { timeout: 120_000 }, async () => {
  const { attacker, bystander } = scene;
  const others = [attacker, await scene.person()];
  // More than a socket holds.
  for (const { agentId, cookie } of others)
    for (const name of ['a', 'b', 'c']) {
      const headers = { cookie, 'content-type': 'application/octet-stream' };
      const path = `${scene.web}/api/agents/${agentId}/files/content?path=${name}`;
      assert.equal((await fetch(path, { method: 'PUT', headers, body: FILE })).status, 201);
    }
  const sockets: Socket[] = [];
  await scene.unharmed(async () => {
    sockets.push(...(await Promise.all(others.map(begun))));
    const answer = await fetch(`${scene.web}/api/account/export`, { headers: { cookie: bystander.cookie } });
    assert.equal(answer.status, 200);
    const whole = Buffer.from(await answer.arrayBuffer());
    assert.ok(whole.includes('profile.json') && whole.subarray(-1024).every((byte) => byte === 0));
  });
  const again = await fetch(`${scene.web}/api/account/export`, { headers: { cookie: attacker.cookie } });
  assert.equal(again.status, 429);
  for (const socket of sockets) socket.destroy();
});
