import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Server } from '@troupe/kernel';
import { testServer } from '@troupe/testing/http/server';
import { dashboardRoutes } from './dashboard.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const dist = `${mkdtempSync(join(tmpdir(), 'troupe-dist-'))}/`;
let server: Server;
before(async () => {
  writeFileSync(`${dist}index.html`, '<title>Troupe</title>');
  mkdirSync(`${dist}assets`);
  writeFileSync(`${dist}assets/app-1a2b.js`, '1');
  server = testServer();
  await dashboardRoutes(server, dist);
});
after(async () => {
  await server.app.close();
  rmSync(dist, { recursive: true });
});

const ask = async (url: string, accept: string | undefined, method: 'GET' | 'HEAD' = 'GET') => {
  const { statusCode, headers, body } = await server.app.inject({ method, url, headers: accept ? { accept } : {} });
  return [statusCode, String(headers['content-type']).split(';')[0], body];
};
const PAGE = '<title>Troupe</title>';
const NOT_FOUND = [404, 'application/json', '{"error":"Not found"}'];

test('a page is for everybody who takes HTML: browsers, and programs that take anything', async () => {
  for (const path of [
    '/',
    '/?a=b',
    '/login',
    '/login/',
    '/pricing',
    '/invite?token=x',
    '/dashboard',
    '/dashboard/agents/7',
  ])
    for (const accept of [BROWSER, '*/*', 'text/*', undefined]) {
      assert.deepEqual(await ask(path, accept), [200, 'text/html', PAGE], `${path} ${accept}`);
      assert.deepEqual(await ask(path, accept, 'HEAD'), [200, 'text/html', ''], `${path} ${accept}`);
    }
});

test('whoever wants JSON gets no page', async () => {
  for (const path of ['/', '/login', '/dashboard']) assert.deepEqual(await ask(path, 'application/json'), NOT_FOUND);
});

test('paths of an API are answered in JSON, also to browsers', async () => {
  for (const path of ['/api', '/api?a=b', '/api/', '/api/nothing', '/v1/nothing', '/assets/nothing.js'])
    for (const accept of [BROWSER, '*/*', undefined])
      assert.deepEqual(await ask(path, accept), NOT_FOUND, `${path} ${accept}`);
  assert.equal((await ask('/api/nothing', '*/*', 'HEAD'))[0], 404);
});

test('a path that is no page: the dashboard says so to a browser, a program gets JSON', async () => {
  for (const path of ['/nothing', '/loginx', '/dashboards', '/login/more']) {
    assert.deepEqual(await ask(path, BROWSER), [404, 'text/html', PAGE]);
    assert.deepEqual(await ask(path, '*/*'), NOT_FOUND);
  }
});

test('files are served as they are', async () => {
  for (const url of ['/assets/app-1a2b.js', '/assets/app-1a2b.js?a=b', '/assets/%61pp-1a2b.js']) {
    const { headers, body } = await server.app.inject(url);
    assert.deepEqual([body, headers['cache-control']], ['1', 'public, max-age=31536000, immutable'], url);
    assert.match(String(headers['content-type']), /javascript/);
  }
  assert.deepEqual(await ask('/assets/app-1a2b.js', '*/*', 'HEAD'), [200, 'application/javascript', '']);
  const { headers, body } = await server.app.inject('/index.html');
  assert.deepEqual([body, headers['cache-control']], [PAGE, 'no-cache']);
});

test('a file that has not changed is not sent again, and one that is not there is nothing of the disk', async () => {
  const { headers } = await server.app.inject('/assets/app-1a2b.js');
  const again = { url: '/assets/app-1a2b.js', headers: { 'if-none-match': String(headers.etag) } };
  assert.equal((await server.app.inject(again)).statusCode, 304);
  for (const path of ['/assets', '/..%2f..%2fetc%2fpasswd'])
    assert.ok([400, 404].includes((await server.app.inject(path)).statusCode), path);
});
