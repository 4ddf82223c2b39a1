import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** Five hundred connections of one address that say a byte a second: heads that do not end, and bodies that do not come. */
const CONNECTIONS = 500;
const BYTE_EVERY_MS = 1000;
/** A head has 15 s and a body 30 s; they are looked for every few seconds. */
const OVER_MS = 45_000;

let scene: Scene;
let token: string;
before(async () => {
  scene = await startScene();
  token = await scene.attacker.token();
});
after(() => scene.stop());

interface Dripping {
  base: string;
  begin: string;
}

const head = (line: string, more: readonly string[] = []): string =>
  [line, 'host: localhost', 'content-type: application/json', ...more, '', ''].join('\r\n');
const BODY = ['content-length: 60000'];

const ways = (): Dripping[] => {
  const { web, backend, attacker } = scene;
  const chat = `POST /api/runtime/proxy/${attacker.agentId}/v1/chat/completions HTTP/1.1`;
  return [
    { base: web, begin: 'GET /api/health HTTP/1.1\r\nhost: localhost\r\nx-long: ' },
    { base: web, begin: head('POST /api/auth/login HTTP/1.1', BODY) },
    { base: web, begin: head('POST /api/chat HTTP/1.1', [`cookie: ${attacker.cookie}`, ...BODY]) },
    { base: web, begin: head('POST /oauth/token HTTP/1.1', ['transfer-encoding: chunked']) },
    { base: backend, begin: head(chat, [`authorization: Bearer ${token}`, ...BODY]) },
  ];
};

/** Until it is closed; answers what it heard. */
function drip({ base, begin }: Dripping): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = net.connect({ port: Number(port), host: hostname, localAddress: '127.0.0.3' });
  let heard = '';
  socket.on('error', () => undefined).on('data', (piece: Buffer) => (heard += piece.toString('latin1')));
  socket.write(begin);
  const isChunked = begin.includes('chunked');
  const timer = setInterval(() => socket.write(isChunked ? '1\r\n{\r\n' : ' '), BYTE_EVERY_MS);
  return new Promise((resolve) =>
    socket.once('close', () => {
      clearInterval(timer);
      resolve(heard);
    }),
  );
}

test('who says a byte a second is told that the time is over, and nobody waits', { timeout: 120_000 }, async () => {
  const all = ways();
  const began = performance.now();
  let left = CONNECTIONS;
  const heard: string[] = [];
  await scene.unharmed(async () => {
    const dripping = Array.from({ length: CONNECTIONS }, async (_, n) => {
      heard.push(await drip(all[n % all.length]!));
      left -= 1;
    });
    const over = Promise.all(dripping).then(() => true);
    assert.ok(await Promise.race([over, delay(OVER_MS, false)]), `${left} connections are still open`);
  });
  assert.ok(performance.now() - began > 14_000, 'they were not even waited for');
  const told = Map.groupBy(heard, (text) => /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 'nothing');
  assert.ok((told.get('408')?.length ?? 0) > 0, [...told.keys()].join());
  assert.deepEqual(
    [...told.keys()].filter((status) => !['408', '429', '503', 'nothing'].includes(status)),
    [],
  );
});
