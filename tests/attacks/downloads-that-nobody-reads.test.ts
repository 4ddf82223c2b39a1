import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** Files and folders that are asked for again and again, of which nobody reads more than the head. */

const AT_ONCE = 60;
const FILE = Buffer.alloc(20_000_000, 'not much of this compresses: 0123456789');

let scene: Scene;
const held: Socket[] = [];
before(async () => {
  scene = await startScene();
  for (const { agentId, cookie } of [scene.attacker, scene.bystander]) {
    const headers = { cookie, 'content-type': 'application/octet-stream' };
    const path = `${scene.web}/api/agents/${agentId}/files/content?path=large.bin`;
    const put = await fetch(path, { method: 'PUT', headers, body: FILE });
    assert.equal(put.status, 201, await put.text());
  }
});
after(async () => {
  for (const socket of held) socket.destroy();
  await scene.stop();
});

/** The status, and not a byte more than came with it. */
async function begin(path: string): Promise<number> {
  const { hostname, port, host } = new URL(scene.web);
  const socket = connect(Number(port), hostname);
  held.push(socket.on('error', () => undefined));
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\ncookie: ${scene.attacker.cookie}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(head.toString('latin1'))?.[1]);
}

const linksOf = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      // closed since
      return [];
    }
  });
const filesOpen = (): number => linksOf(scene.program.pid).filter((link) => link.startsWith('/')).length;

/** That somebody else has to this address. */
function connectionsOf(address: string): number {
  const port = Number(new URL(address).port).toString(16).toUpperCase().padStart(4, '0');
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return lines.filter((line) => line.includes(`0100007F:${port} `) && / 01 /.test(line.slice(0, 40))).length;
}

test('downloads that nobody reads cost little, and keep nobody from one', { timeout: 120_000 }, async () => {
  const { attacker, bystander } = scene;
  const [before, opened] = [scene.memory(), filesOpen()];
  let grown = 0;
  await scene.unharmed(async () => {
    const of = `/api/agents/${attacker.agentId}/files`;
    const statuses = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => begin(n % 2 ? `${of}/zip` : `${of}/content?path=large.bin`)),
    );
    for (const status of statuses) assert.ok(status === 200 || status === 429, String(status));
    assert.ok(statuses.includes(200));
    await delay(4000);
    grown = scene.memory() - before;
    const path = `${scene.web}/api/agents/${bystander.agentId}/files/content?path=large.bin`;
    const answer = await fetch(path, { headers: { cookie: bystander.cookie } });
    assert.equal((await answer.arrayBuffer()).byteLength, FILE.length);
  });
  assert.ok(grown < 150, `the process grew by ${Math.round(grown)} MB`);
  for (const socket of held) socket.destroy();
  for (const until = Date.now() + 10_000; filesOpen() > opened && Date.now() < until;) await delay(100);
  assert.equal(filesOpen(), opened, 'who goes leaves no file open');
  // Of connections, those between the services are kept for the next call; all else has ended.
  assert.ok(connectionsOf(scene.web) < 10, `${connectionsOf(scene.web)} connections`);
});
