import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const START = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url));
const PAYEE = '0x00000000000000000000000000000000000000aA';

/** The summarizer as a program of its own, with nothing but these settings. */
async function start(env: Record<string, string>) {
  const child = spawn(process.execPath, [START, 'summarizer'], {
    env: { SUMMARIZER_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { address } = JSON.parse(line) as { address?: string };
    if (address !== undefined) return { child, address };
  }
  throw new Error('the summarizer did not start');
}

const PAGE = `<!doctype html><html><head><title>A page</title><meta name="description" content="What it is">
  <meta property="og:title" content="Shared"></head><body><h1>Main</h1><p>A paragraph of more than twenty characters.</p>
  <p>short</p><a href="/next">Next</a> <a href="#top">Top</a><img src="pic.png" alt="Pic"><script>no words here</script></body></html>`;

describe('the web summarizer', () => {
  let service: Awaited<ReturnType<typeof start>>;
  let site = '';
  const upstream = createServer((request, reply) => {
    if (request.url === '/page') return reply.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    if (request.url === '/moved') return reply.writeHead(301, { location: '/page' }).end();
    if (request.url === '/text') return reply.writeHead(200, { 'content-type': 'text/plain' }).end('text');
    reply.writeHead(Number(request.url?.slice(1)) || 404, { 'content-type': 'text/html' }).end(PAGE);
  });

  before(async () => {
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
    site = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    service = await start({ PAYEE_ADDRESS: PAYEE });
  });
  after(async () => {
    upstream.closeAllConnections();
    upstream.close();
    service.child.kill('SIGTERM');
    const [code] = await once(service.child, 'exit');
    assert.equal(code, 0, 'SIGTERM ends it with code 0');
  });

  async function call(path: string, body?: unknown, headers = { 'content-type': 'application/json' }) {
    const init = { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
    const answer = await fetch(service.address + path, body === undefined ? {} : init);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  test('GET / says what it is and who is paid', async () => {
    const { status, body } = await call('/');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['service', 'description', 'endpoints', 'payment']);
    const payment = body['payment'] as Record<string, unknown>;
    assert.deepEqual(Object.keys(payment), ['network', 'currency', 'payTo', 'note']);
    assert.equal(payment['payTo'], PAYEE);
  });

  test('GET /health', async () => {
    const { status, body } = await call('/health');
    assert.equal(status, 200);
    assert.equal(body['status'], 'ok');
    assert.match(String(body['version']), /^\d+\.\d+\.\d+$/);
    assert.equal(typeof body['service'], 'string');
  });

  test('POST /api/summarize', async () => {
    for (const path of ['/page', '/moved']) {
      const { status, body } = await call('/api/summarize', { url: site + path });
      const { fetchedAt, ...rest } = body;
      assert.equal(status, 200);
      assert.ok(Math.abs(Date.parse(String(fetchedAt)) - Date.now()) < 60_000);
      assert.deepEqual(rest, {
        url: site + path,
        title: 'A page',
        description: 'What it is',
        headings: ['Main'],
        paragraphs: ['A paragraph of more than twenty characters.'],
        wordCount: 11,
      });
    }
  });

  test('POST /api/extract', async () => {
    const { status, body } = await call('/api/extract', { url: `${site}/page` });
    const { fetchedAt, ...rest } = body;
    assert.equal(status, 200);
    assert.equal(typeof fetchedAt, 'string');
    assert.deepEqual(rest, {
      url: `${site}/page`,
      links: [{ href: `${site}/next`, text: 'Next' }],
      images: [{ src: `${site}/pic.png`, alt: 'Pic' }],
      meta: { description: 'What it is', 'og:title': 'Shared' },
    });
  });

  for (const path of ['/api/summarize', '/api/extract']) {
    describe(`errors of ${path}`, () => {
      const bad: [unknown, string][] = [
        [{}, 'url required'],
        [[], 'url required'],
        [{ url: '' }, 'url required'],
        [{ url: '  ' }, 'url required'],
        [{ url: 5 }, 'url required'],
        [{ url: null }, 'url required'],
        [{ url: ['http://example.com'] }, 'url required'],
        [{ url: 'example.com' }, 'url must be http or https'],
        [{ url: 'ftp://example.com' }, 'url must be http or https'],
        [{ url: 'javascript:alert(1)' }, 'url must be http or https'],
        [{ url: 'file:///etc/passwd' }, 'url must be http or https'],
        [{ url: 'http://' }, 'url must be http or https'],
        [{ url: 'http://user:password@example.com/' }, 'Credentials in the URL are not allowed'],
        ['{"url":', 'Invalid JSON'],
      ];
      for (const [body, error] of bad) {
        test(`400 for ${JSON.stringify(body)}`, async () => {
          assert.deepEqual(await call(path, body), { status: 400, body: { error } });
        });
      }

      test('400 for another content type, 413 for a large body, 404 for GET', async () => {
        const plain = await call(path, 'url=x', { 'content-type': 'text/plain' });
        assert.deepEqual(plain, { status: 400, body: { error: 'Content-Type must be application/json' } });
        const large = await call(path, { url: 'x'.repeat(1_048_577) });
        assert.deepEqual(large, { status: 413, body: { error: 'Request body too large' } });
        assert.equal((await call(path)).status, 404);
      });

      test('500 with the status for an upstream error', async () => {
        for (const status of [404, 403, 500, 503]) {
          const url = `${site}/${status}`;
          assert.deepEqual(await call(path, { url }), {
            status: 500,
            body: { error: `HTTP ${status} fetching ${url}` },
          });
        }
      });

      test('500 for what cannot be fetched or is no page', async () => {
        const errors = {
          'http://10.0.0.1/': 'Target address not allowed',
          'http://no-such-name.invalid/': 'Target could not be reached',
          [`${site}/text`]: 'Not an HTML page: text/plain',
        };
        for (const [url, error] of Object.entries(errors)) {
          assert.deepEqual(await call(path, { url }), { status: 500, body: { error } });
        }
      });
    });
  }

  test('its OpenAPI document names every endpoint', async () => {
    const { body } = await call('/api/openapi.json');
    const paths = Object.keys(body['paths'] as object).sort();
    assert.deepEqual(paths, ['/', '/api/extract', '/api/summarize', '/health']);
  });
});

test('in production loopback targets are refused, and nobody is paid without PAYEE_ADDRESS', async () => {
  const { child, address } = await start({ NODE_ENV: 'production' });
  const body = JSON.stringify({ url: 'http://127.0.0.1:9/' });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${address}/api/summarize`, { method: 'POST', headers, body });
  assert.deepEqual([answer.status, await answer.json()], [500, { error: 'Target address not allowed' }]);
  const about = (await (await fetch(address)).json()) as { payment: { payTo: unknown } };
  assert.equal(about.payment.payTo, null);
  child.kill('SIGTERM');
  await once(child, 'exit');
});

test('a bad setting and a port in use stop the start with one sentence', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const cases: [Record<string, string>, RegExp][] = [
    [{ SUMMARIZER_PORT: 'high' }, /^SUMMARIZER_PORT is "high", expected a whole number from 0 to 65535\n$/],
    [{ SUMMARIZER_PORT: String(port) }, /^Port \d+ on 127\.0\.0\.1 is in use: .*SUMMARIZER_PORT.*\n$/],
  ];
  for (const [env, expected] of cases) {
    const child = spawn(process.execPath, [START, 'summarizer'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const [said, [code]] = await Promise.all([child.stderr.toArray(), once(child, 'exit')]);
    assert.match(Buffer.concat(said as Buffer[]).toString(), expected);
    assert.equal(code, 1);
  }
  taken.close();
});
