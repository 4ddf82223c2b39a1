// An agent on another machine could end the platform's process by a status, and set cookies, policies and pages on its origin.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import http, { type IncomingHttpHeaders } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { WebSocket } from 'ws';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

const WAYS: Record<string, string> = {
  '/000': 'HTTP/1.1 000 OK\r\ncontent-length: 2\r\n\r\nhi',
  '/999': 'HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\nhi',
  '/nonsense': 'SSH-2.0-OpenSSH_9\r\n',
  '/chunks': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
  '/trailer': 'HTTP/1.1 200 OK\r\ntrailer: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
  '/huge': `HTTP/1.1 200 OK\r\nx-huge: ${'a'.repeat(60_000)}\r\n\r\n`,
  '/many': `HTTP/1.1 200 OK\r\n${'a'
    .repeat(150)
    .split('')
    .map((_, index) => `x-${index}: 1\r\n`)
    .join('')}content-length: 0\r\n\r\n`,
  '/interim': 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000),
  '/switch': 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
  '/packed': 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nhi',
};
const POISON = {
  'set-cookie': 'svc-session=stolen; Domain=localhost',
  'content-security-policy': "default-src *; script-src * 'unsafe-inline'",
  'access-control-allow-origin': 'https://evil.example',
  'access-control-allow-credentials': 'true',
  'clear-site-data': '"*"',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'service-worker-allowed': '/',
  refresh: '0; url=https://evil.example',
  link: '<https://evil.example>; rel=preload',
  location: 'https://evil.example/',
  'x-accel-redirect': '/secret',
  'www-authenticate': 'Basic realm="Troupe"',
  'x-content-type-options': 'none',
  'cache-control': 'public, max-age=31536000',
};

let scene: Scene;
let agent: http.Server;
let hosting: http.Server;
const heard: { url: string; headers: IncomingHttpHeaders }[] = [];
const open = new Set<Socket>();
const port = (server: net.Server): number => (server.address() as AddressInfo).port;
const path = (rest: string): string => `/api/runtime/proxy/${scene.attacker.agentId}${rest}`;

before(async () => {
  agent = http.createServer((request, response) => {
    heard.push({ url: request.url ?? '', headers: request.headers });
    const way = WAYS[request.url ?? ''];
    if (way !== undefined) return void request.socket.write(way);
    if (request.url === '/data')
      return void response.writeHead(200, { ...POISON, 'content-type': 'application/json' }).end('{}');
    if (request.url === '/moved') return void response.writeHead(302, POISON).end();
    response.writeHead(200, { ...POISON, 'content-type': 'text/html' }).end('<script>steal()</script>');
  });
  agent.on('connection', (socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
  });
  agent.on('upgrade', (request, socket) => {
    heard.push({ url: request.url ?? '', headers: request.headers });
    if (request.url === '/000') return void socket.end(WAYS['/000']);
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    const extra =
      request.url === '/bad'
        ? 'sec-websocket-extensions: x\x0bset-cookie: a=b\r\n'
        : 'set-cookie: svc-session=stolen\r\n';
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n${extra}\r\n`,
    );
  });
  await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve));
  hosting = http.createServer((_, response) => {
    const url = `http://127.0.0.1:${port(agent)}`;
    response.end(JSON.stringify([{ service: { id: 'srv-1', serviceDetails: { url } } }]));
  });
  await new Promise<void>((resolve) => hosting.listen(0, '127.0.0.1', resolve));
  scene = await startScene({ HOSTING_API_URL: `http://127.0.0.1:${port(hosting)}`, HOSTING_API_KEY: 'hosting-key' });
  await scene.database.db.system
    .updateTable('agents')
    .set({ driver: 'hosting' })
    .where('id', '=', scene.attacker.agentId)
    .execute();
});
after(async () => {
  await scene.stop();
  for (const socket of open) socket.destroy();
  for (const server of [agent, hosting]) server.close();
});
beforeEach(() => void heard.splice(0));

test('answers that cannot be said again are a 502 with a sentence, and nobody else notices', async () => {
  await scene.unharmed(async () => {
    for (const way of Object.keys(WAYS).filter((name) => name !== '/trailer' && name !== '/chunks')) {
      const { status, body } = await scene.attacker.askBackend('GET', path(way));
      assert.equal(status, 502, way);
      assert.match(body.error, /^The (other side|agent) \w+/, way);
    }
    assert.equal((await scene.attacker.askBackend('GET', path('/trailer'))).status, 200);
    // Its head was in order: what follows breaks the answer off.
    await assert.rejects(scene.attacker.askBackend('GET', path('/chunks')));
  });
});

describe('what an agent sends', () => {
  const get = (rest: string) =>
    fetch(scene.backend + path(rest), {
      headers: { authorization: `Bearer ${TEST_SECRETS.internalKey}` },
      redirect: 'manual',
    });

  test('sets no cookie and no policy', async () => {
    for (const rest of ['/data', '/page', '/moved']) {
      const { headers } = await get(rest);
      for (const [name, value] of Object.entries(POISON)) assert.notEqual(headers.get(name), value, `${rest}: ${name}`);
      for (const name of [
        'set-cookie',
        'location',
        'refresh',
        'link',
        'access-control-allow-origin',
        'x-accel-redirect',
      ])
        assert.equal(headers.get(name), null, `${rest}: ${name}`);
      assert.match(headers.get('content-security-policy') ?? '', /sandbox; default-src 'none'/);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('cache-control'), 'no-store');
    }
  });

  test('is data, whatever it calls it', async () => {
    const page = await get('/page');
    assert.equal(page.headers.get('content-type'), 'application/octet-stream');
    assert.equal(page.headers.get('content-disposition'), 'attachment');
    const data = await get('/data');
    assert.equal(data.headers.get('content-type'), 'application/json');
    assert.equal(data.headers.get('content-disposition'), null);
  });

  test('opens a WebSocket without a word of its own', async () => {
    const ws = (rest: string) =>
      new WebSocket(scene.backend.replace('http', 'ws') + path(rest), ['bearer', TEST_SECRETS.internalKey], {
        headers: { cookie: scene.attacker.cookie },
      });
    const upgraded = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
      const socket = ws('/ws');
      socket.once('upgrade', ({ headers }) => resolve(headers));
      socket.once('open', () => socket.terminate());
      socket.once('error', reject);
    });
    assert.equal(upgraded['set-cookie'], undefined);
    assert.equal(upgraded['sec-websocket-protocol'], 'bearer');
    for (const rest of ['/bad', '/000']) {
      const answer = await new Promise<number | undefined>((resolve) => {
        const socket = ws(rest);
        socket.once('unexpected-response', (_, { statusCode }) => {
          resolve(statusCode);
          socket.terminate();
        });
        socket.once('open', () => resolve(101));
        socket.on('error', () => {});
      });
      assert.equal(answer, 502, rest);
    }
    for (const { headers } of heard) assert.equal(headers.cookie, undefined);
  });
});

test('an agent hears nothing that opens the platform', async () => {
  const secret = {
    cookie: scene.attacker.cookie,
    'x-user-id': scene.bystander.id,
    'x-user-email': 'a@b.c',
    'x-svc-key': 'k',
  };
  await scene.attacker.askBackend('GET', path('/data'), undefined, secret);
  await scene.attacker.askBackend('GET', path('/data'), undefined, {
    ...secret,
    authorization: 'Bearer sk_of_the_platform',
  });
  await scene.attacker.askBackend('GET', path('/data?token=sk_of_the_platform'), undefined, {
    ...secret,
    authorization: '',
  });
  assert.equal(heard.length, 3);
  const [known, unknown] = heard;
  assert.match(known!.headers.authorization ?? '', /^Bearer \S+/);
  assert.ok(!known!.headers.authorization!.includes(TEST_SECRETS.internalKey));
  assert.equal(unknown!.headers.authorization, undefined);
  for (const { url, headers } of heard) {
    assert.doesNotMatch(url, /token/);
    for (const name of Object.keys(headers)) assert.doesNotMatch(name, /^(cookie|x-user|x-svc|x-client|x-forwarded)/);
  }
});
