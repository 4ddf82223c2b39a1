import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createOutbound } from '@troupe/kernel';
import { newDefinition } from '@troupe/domain';
import { fetchTools } from './fetch.ts';
import { call } from './testing.ts';

const asked: string[] = [];
/** 100 KB that are 100 MB. */
const BOMB = gzipSync(Buffer.alloc(100 * 1024 * 1024));
const ENDLESS = { bytes: 0, left: Promise.withResolvers<void>() };

/** Says how much was taken of it, and when nobody took any more. */
async function endless(response: http.ServerResponse): Promise<void> {
  const piece = Buffer.alloc(65_536, 'x');
  response.once('close', () => ENDLESS.left.resolve());
  while (!response.destroyed) {
    ENDLESS.bytes += piece.length;
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), ENDLESS.left.promise]);
  }
}

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
  else if (url === '/same') response.writeHead(302, { location: '/page' }).end();
  else if (url === '/nowhere') response.writeHead(302, { location: 'http://[' }).end();
  else if (url === '/endless') void endless(response);
  else if (url === '/bomb') response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB);
  else if (url === '/long-head') response.writeHead(200, { 'x-long': 'x'.repeat(70_000) }).end('y');
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

test('no more than 2 MB are read, of what comes and of what it unpacks to', async () => {
  const tooLarge = { content: 'Response too large', isError: true };
  assert.deepEqual(await get(`${base}/endless`), tooLarge);
  await ENDLESS.left.promise;
  // What the buffers of both sides hold was sent, too.
  assert.ok(ENDLESS.bytes < 16 * 1024 * 1024, `${ENDLESS.bytes} bytes were taken`);
  const before = process.memoryUsage().rss;
  assert.deepEqual(await get(`${base}/bomb`), tooLarge);
  const grown = (process.memoryUsage().rss - before) / 1024 / 1024;
  assert.ok(grown < 50, `it took ${Math.round(grown)} MB`);
  assert.deepEqual(await get(`${base}/long-head`), tooLarge);
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

test('what the owner says of addresses holds over redirects, too', async () => {
  const { config } = newDefinition({ name: 'x' });
  const asking = (path: string, more: object, safety: object = {}) => {
    const definition = { config: { ...config, safety: { ...config.safety, ...safety } }, ...more };
    return call(fetchTools(outbound), 'fetch', { url: `${base}${path}` }, { definition });
  };
  const page = { content: 'Hello & goodbye' };
  const other = base.replace('localhost', '127.0.0.1');
  const isAsked = { content: `The page leads to ${other}/page. To read that, fetch it: the owner wants to be asked.` };
  const patterns = (given: object) => ({ permissions: { allow: [], ask: [], deny: [], ...given } });
  const before = asked.length;
  // Allowed by a pattern, or for good, and led elsewhere.
  const named = patterns({ allow: [`fetch:url=${base}/*`], ask: ['fetch'] });
  assert.deepEqual(await asking('/elsewhere', named), { ...isAsked, isError: true });
  const always = { approvals: { fetch: 'ask' }, standing: [{ tool: 'fetch', within: new URL(base).host }] };
  assert.deepEqual(await asking('/elsewhere', {}, always), { ...isAsked, isError: true });
  // Somebody said yes to this one address.
  const each = { approvals: { fetch: 'ask' } };
  assert.deepEqual(await asking('/elsewhere', {}, each), { ...isAsked, isError: true });
  const denied = patterns({ deny: [`fetch:url=${other}*`], allow: ['fetch'] });
  assert.match((await asking('/elsewhere', denied)).content, /which the owner does not allow/);
  assert.deepEqual(new Set(asked.slice(before)), new Set(['/elsewhere']), 'nobody was asked for the other page');
  assert.deepEqual(await asking('/same', {}, each), page);
  assert.deepEqual(await asking('/same', named), page);
  assert.deepEqual(await asking('/elsewhere', {}), page);
  assert.match((await asking('/nowhere', {})).content, /leads to an address that is none/);
});

test('an address inside the house is refused, allowed or not', async () => {
  const before = asked.length;
  assert.equal((await get(`${base}/page`, ['localhost'], guarded)).isError, true);
  assert.equal(asked.length, before);
});
