import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { memoryCounters, silentLog, systemClock, type Env } from '@troupe/kernel';
import { TEST_SECRETS, testSettings } from '@troupe/testing/http/server';
import { createSummarizer, type SummarizerOptions } from './app.ts';

const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const html = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  listen((_, reply) => reply.writeHead(200, { 'content-type': 'text/html', ...headers }).end(body));

function summarizer(options: Partial<SummarizerOptions> & { env?: Env } = {}) {
  const { env, ...rest } = options;
  const server = createSummarizer({
    settings: testSettings(env),
    log: silentLog,
    counters: memoryCounters(systemClock),
    secrets: TEST_SECRETS,
    url: 'http://127.0.0.1:3100',
    fetchTimeout: 5_000,
    ...rest,
  });
  cleanups.push(() => server.close());
  return async (url: unknown, path = '/api/summarize'): Promise<[number, Record<string, unknown>]> => {
    const answer = await server.app.inject({ method: 'POST', url: path, payload: { url } });
    return [answer.statusCode, answer.json()];
  };
}

const NOT_ALLOWED = [500, { error: 'Target address not allowed' }];

describe('targets', () => {
  const urls = [
    ['http://10.0.0.1/', 'http://192.168.1.1/', 'http://169.254.169.254/latest/meta-data', 'http://[fe80::1]/'],
    ['http://[fd00::1]/', 'http://[::ffff:10.0.0.1]/', 'http://0x0a000001/', 'http://167772161/', 'http://012.0.0.1/'],
    ['http://100.64.0.1/', 'http://0.0.0.0/', 'http://[::]/', 'http://[2002:a00:1::]/', 'http://[64:ff9b::a00:1]/'],
  ].flat();
  for (const url of urls) {
    test(`${url} is refused also on a loopback address`, async () =>
      assert.deepEqual(await summarizer()(url), NOT_ALLOWED));
  }

  const LOOPBACK = [
    'http://127.0.0.1:9/',
    'http://localhost:9/',
    'http://[::1]:9/',
    'http://2130706433:9/',
    'http://0177.1:9/',
  ];
  const envs: Record<string, Env> = {
    'in production': { NODE_ENV: 'production' },
    'on a public address': { HOST: '0.0.0.0' },
    'behind a public name': { BASE_URL: 'https://troupe.example' },
  };
  for (const [name, env] of Object.entries(envs)) {
    test(`loopback is refused ${name}`, async () => {
      const call = summarizer({ env });
      for (const url of LOOPBACK) assert.deepEqual(await call(url), NOT_ALLOWED, url);
    });
  }

  test('a name that resolves to a private address is refused', async () => {
    const call = summarizer({ outbound: { resolve: async () => [{ address: '10.0.0.8', family: 4 }] } });
    assert.deepEqual(await call('https://innocent.example/'), NOT_ALLOWED);
    assert.deepEqual(await call('https://innocent.example/', '/api/extract'), NOT_ALLOWED);
  });

  test('redirects to private addresses and other schemes are refused, loops end', async () => {
    const base = await listen((request, reply) => {
      const target = new URL(request.url ?? '', 'http://x').searchParams.get('to') ?? '';
      reply.writeHead(302, { location: target }).end();
    });
    const call = summarizer();
    assert.deepEqual(await call(`${base}/?to=http://10.0.0.1/`), NOT_ALLOWED);
    assert.deepEqual(
      await call(`${base}/?to=${encodeURIComponent(`${base}/?to=http://[::ffff:a00:1]/`)}`),
      NOT_ALLOWED,
    );
    assert.deepEqual(await call(`${base}/?to=ftp://example.com/`), [500, { error: 'URL must be http or https' }]);
    assert.deepEqual(await call(`${base}/?to=${encodeURIComponent('?to=')}`), [500, { error: 'Too many redirects' }]);
  });

  test('exactly five redirects are followed', async () => {
    const base = await listen((request, reply) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) return reply.writeHead(200, { 'content-type': 'text/html' }).end('<a href=next>n</a>');
      reply.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const call = summarizer();
    const [status, body] = await call(`${base}/5`, '/api/extract');
    assert.equal(status, 200);
    assert.deepEqual([body['url'], body['links']], [`${base}/5`, [{ href: `${base}/next`, text: 'n' }]]);
    assert.deepEqual(await call(`${base}/6`), [500, { error: 'Too many redirects' }]);
  });
});

describe('upstream', () => {
  test('is asked with the product’s name, for HTML', async () => {
    let seen: Record<string, unknown> = {};
    const base = await listen((request, reply) => {
      seen = request.headers;
      reply.writeHead(200, { 'content-type': 'text/html' }).end();
    });
    await summarizer()(base);
    assert.equal(seen['user-agent'], 'Troupe-WebSummarizer/1.0');
    assert.equal(seen['accept'], 'text/html,application/xhtml+xml');
  });

  test('other types are refused', async () => {
    const call = summarizer();
    for (const type of ['application/pdf', 'application/json; charset=utf-8', 'image/png', 'text/plain']) {
      const answer = await call(await html('x', { 'content-type': type }));
      assert.deepEqual(answer, [500, { error: `Not an HTML page: ${type.split(';')[0]}` }]);
    }
    const [status, page] = await call(await html('<h1>One</h1>', { 'content-type': 'application/xhtml+xml' }));
    assert.deepEqual([status, page['headings']], [200, ['One']]);
  });

  test('nothing listening, a reset, rubbish instead of HTTP', async () => {
    const call = summarizer();
    const gone = await html('');
    await cleanups.pop()?.();
    const reset = await listen((request) => request.socket.destroy());
    const rubbish = await listen((request) => request.socket.end('rubbish\r\n\r\n'));
    for (const url of [gone, reset, rubbish]) {
      assert.deepEqual(await call(url), [500, { error: 'Target could not be reached' }]);
    }
  });

  test('no answer and a slow drip end in time', async () => {
    const call = summarizer({ fetchTimeout: 150 });
    const silent = await listen(() => {});
    const drip = await listen((_, reply) => {
      reply.writeHead(200, { 'content-type': 'text/html' });
      const timer = setInterval(() => reply.write('<p>'), 10);
      reply.on('close', () => clearInterval(timer));
    });
    for (const url of [silent, drip]) {
      for (const path of ['/api/summarize', '/api/extract']) {
        assert.deepEqual(await call(url, path), [500, { error: 'Target did not answer in time' }]);
      }
    }
  });

  test('10 MB and bombs are too large', async () => {
    const call = summarizer();
    const text = Buffer.alloc(10_000_000, 'word ');
    const bodies = [
      await html(text),
      await html(gzipSync(text), { 'content-encoding': 'gzip' }),
      await html(brotliCompressSync(Buffer.alloc(20_000_000)), { 'content-encoding': 'br' }),
      await html(gzipSync(gzipSync(Buffer.alloc(20_000_000))), { 'content-encoding': 'gzip, gzip' }),
    ];
    for (const url of bodies) assert.deepEqual(await call(url), [500, { error: 'Response too large' }]);
  });

  test('5 MB are read whole', async () => {
    const page = '<p>word</p> '.repeat(500_000).slice(0, 5 * 1024 * 1024);
    const [status, body] = await summarizer()(await html(gzipSync(page), { 'content-encoding': 'gzip' }));
    assert.equal(status, 200);
    assert.equal(body['wordCount'], Math.ceil(page.length / 12));
  });

  test('20 hostile pages at once are all answered, and so are others meanwhile', async () => {
    const call = summarizer({ fetchTimeout: 20_000 });
    const fill = (unit: string) => unit.repeat(1_000_000 / unit.length);
    const pages = [fill('<div>'), `<a ${fill('a=1 ')}`, `<!--${fill('- ')}`, fill('<'), fill('&#1')];
    const urls = await Promise.all(pages.map((page) => html(page)));
    const quick = await html('<title>Quick</title>');
    const all = Array.from({ length: 20 }, (_, index) => call(urls[index % urls.length]));
    const [, body] = await call(quick);
    assert.equal(body['title'], 'Quick');
    for (const [status] of await Promise.all(all)) assert.equal(status, 200);
  });
});
