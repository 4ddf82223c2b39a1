import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createOutbound } from '@troupe/kernel';
import { newDefinition } from '@troupe/domain';
import { fetchTools } from './fetch.ts';
import { call } from './testing.ts';

const asked: string[] = [];
const server = http.createServer((request, response) => {
  const { url = '' } = request;
  asked.push(url);
  const { port } = server.address() as AddressInfo;
  if (url === '/page')
    response
      .setHeader('content-type', 'text/html')
      .end('<style>p{}</style><p>Hello &amp; goodbye</p><script>alert(1)</script>');
  else if (url === '/gone') response.writeHead(404).end('not here');
  else if (url === '/elsewhere') response.writeHead(302, { location: `http://127.0.0.1:${port}/page` }).end();
  else if (url === '/round') response.writeHead(302, { location: '/round' }).end();
  else response.end('x'.repeat(100_000));
});
const outbound = createOutbound({ allowLoopback: true });
const guarded = createOutbound();
let base = '';
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://localhost:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  await Promise.all([outbound.close(), guarded.close()]);
  server.close().closeAllConnections();
});

const get = (url: string, allowedDomains: string[] = [], client = outbound) => {
  const { config } = newDefinition({ name: 'x' });
  const definition = { config: { ...config, safety: { ...config.safety, allowedDomains } } };
  return call(fetchTools(client), 'fetch', { url }, { definition });
};

test('a page is read as text, within bounds, and what went wrong is told', async () => {
  assert.deepEqual(await get(`${base}/page`), { content: 'Hello & goodbye' });
  assert.deepEqual(await get(`${base}/gone`), { content: 'The server answered 404.\nnot here', isError: true });
  assert.equal((await get(`${base}/long`)).content.length, 40_000);
  assert.deepEqual(await get(`${base}/round`), { content: 'Too many redirects', isError: true });
  for (const url of ['file:///etc/passwd', 'nonsense'])
    assert.deepEqual(await get(url), { content: 'Only http and https addresses can be read.', isError: true });
});

test('only allowed domains are asked, over redirects too', async () => {
  assert.deepEqual(await get(`${base}/page`, ['localhost']), { content: 'Hello & goodbye' });
  const before = asked.length;
  assert.deepEqual(await get(`${base}/page`, ['example.com']), {
    content: 'The owner does not allow localhost.',
    isError: true,
  });
  assert.equal(asked.length, before);
  assert.deepEqual(await get(`${base}/elsewhere`, ['localhost']), {
    content: 'The owner does not allow 127.0.0.1.',
    isError: true,
  });
  assert.deepEqual(asked.slice(before), ['/elsewhere']);
});

test('an address inside the house is refused, allowed or not', async () => {
  const before = asked.length;
  assert.equal((await get(`${base}/page`, ['localhost'], guarded)).isError, true);
  assert.equal(asked.length, before);
});
