import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/**
 * A body may come in chunks, and a chunk may be one byte: each became an object of its own, a hundred times as large as what it
 * brought, and took as long to pass on as one of 64 KB. Two requests of strangers, of a megabyte each, took 930 MB.
 */

const CONNECTIONS = 8;
const BYTES = Buffer.from('1\r\n1\r\n'.repeat(10_000));

let scene: Scene;
let token: string;
before(async () => {
  scene = await startScene();
  token = await scene.attacker.token();
});
after(() => scene.stop());

/** Until it is closed; answers what it heard. */
function send(base: string, path: string, headers: readonly string[] = []): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = net.connect({ port: Number(port), host: hostname, localAddress: '127.0.0.3' });
  let heard = '';
  const go = (): void => {
    while (socket.writable && socket.write(BYTES));
  };
  socket.on('error', () => undefined).on('data', (piece: Buffer) => (heard += piece.toString('latin1')));
  const head = [`POST ${path} HTTP/1.1`, 'host: localhost', 'transfer-encoding: chunked', ...headers, '', ''];
  socket.on('drain', go).write(head.join('\r\n'));
  go();
  return new Promise((resolve) => socket.once('close', () => resolve(heard)));
}

const JSON_BODY = 'content-type: application/json';
const ways: Record<string, () => Promise<string>> = {
  'of a stranger': () => send(scene.web, '/api/auth/login', [JSON_BODY]),
  'of a user': () => send(scene.web, '/api/chat', [JSON_BODY, `cookie: ${scene.attacker.cookie}`]),
  'for an agent': () => {
    const path = `/api/runtime/proxy/${scene.attacker.agentId}/v1/chat/completions`;
    return send(scene.backend, path, [JSON_BODY, `authorization: Bearer ${token}`]);
  },
};

for (const [whose, way] of Object.entries(ways))
  test(`bodies ${whose} that come byte by byte`, { timeout: 60_000 }, async () => {
    let most = 0;
    const before = scene.memory();
    await scene.unharmed(async () => {
      const sent = Promise.all(Array.from({ length: CONNECTIONS }, way));
      let heard: string[] | undefined;
      do {
        heard = await Promise.race([sent, delay(50)]).then((all) => all ?? undefined);
        most = Math.max(most, scene.memory());
      } while (!heard);
      // Who closes while more comes may be heard no more.
      for (const text of heard) assert.match(text, /^$|^HTTP\/1\.1 400 /);
    });
    assert.ok(most - before < 200, `${Math.round(most - before)} MB were taken`);
  });
