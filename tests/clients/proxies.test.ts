import assert from 'node:assert/strict';
import { createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createBackend } from '@troupe/backend';
import { CallError, createTroupe } from '@troupe/client';
import { closeAll } from '@troupe/kernel';
import { testRuntime } from '@troupe/testing/database/runtime';
import { person } from '@troupe/testing/services/people';
import { createWeb } from '@troupe/web';

/** A proxy between web and backend, and one before web, that answers with pages of its own: nobody is shown them. */

const PAGE =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center>nginx/1.26</center></body>\r\n</html>';

interface Proxy {
  url: string;
  /** What it answers by itself; undefined: it passes on. */
  says: { status: number; type: string; body: string } | undefined;
}

const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing.toReversed()) await close();
});

async function proxyTo(target: () => string): Promise<Proxy> {
  const proxy: Proxy = { url: '', says: undefined };
  function pass(request: IncomingMessage, response: ServerResponse): void {
    const { method, headers, url = '' } = request;
    if (proxy.says) {
      request.resume();
      response.writeHead(proxy.says.status, { 'content-type': proxy.says.type }).end(proxy.says.body);
      return;
    }
    const onwards = ask(new URL(url, target()), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onwards.on('error', () => response.destroy());
    request.pipe(onwards);
  }
  const server = createServer(pass);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close().closeAllConnections());
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

let between: Proxy;
let outside: Proxy;
let web: string;
let headers: Record<string, string>;
let key: string;
let agentId: string;
before(async () => {
  const runtime = await testRuntime();
  const deps = { ...runtime, version: '0.0.0-test' };
  const backend = await createBackend({ ...deps, url: 'http://127.0.0.1:3001' });
  const real = await backend.server.listen(0, 'BACKEND_PORT');
  between = await proxyTo(() => real);
  const made = await createWeb({ ...deps, url: 'http://127.0.0.1:3000', backendUrl: between.url });
  web = await made.server.listen(0, 'WEB_PORT');
  outside = await proxyTo(() => web);
  closing.push(() => closeAll([runtime, backend, made]));
  const ann = await person({ web, backend: real, runtime, stop: async () => {} }, { plan: 'network' });
  key = (await ann.ask('POST', '/api/keys', { name: 'k' })).body.key as string;
  headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  agentId = (await ann.ask('POST', '/api/agents/provision', { name: 'Ada' })).body.agent.id as string;
});

const SAID = [
  ['a page', { status: 502, type: 'text/html', body: PAGE }],
  ['a page that says it is JSON', { status: 502, type: 'application/json', body: PAGE }],
  ['a page of a bound', { status: 413, type: 'text/html', body: PAGE }],
  ['a page without a type', { status: 504, type: '', body: PAGE }],
  ['a line', { status: 503, type: 'text/plain', body: 'upstream connect error' }],
  ['nothing', { status: 502, type: 'text/plain', body: '' }],
] as const;

const CALLS: readonly (readonly [method: string, path: () => string, body?: object])[] = [
  ['POST', () => '/api/chat', { message: 'hi' }],
  ['POST', () => '/api/chat', { message: 'hi', stream: true }],
  ['GET', () => `/api/agents/${agentId}/sessions`],
  ['GET', () => `/api/agents/${agentId}/config`],
  ['GET', () => `/api/agents/${agentId}/files`],
  ['GET', () => `/api/agents/${agentId}/memory`],
  ['GET', () => '/api/models'],
];

describe('between web and backend a proxy answers with', () => {
  for (const [what, says] of SAID)
    test(`${what}: whoever asked gets an error of ours`, async () => {
      between.says = says;
      try {
        let refused = 0;
        for (const [method, path, given] of CALLS) {
          const body = given && JSON.stringify({ ...given, ...('message' in given && { agentId }) });
          const answer = await fetch(web + path(), { method, headers, ...(body && { body }) });
          const text = await answer.text();
          const where = `${method} ${path()}: ${answer.status} ${text}`;
          assert.doesNotMatch(text, /<|nginx|upstream connect|HTTP \d/, where);
          if (answer.status < 400) continue;
          refused += 1;
          assert.match(answer.headers.get('content-type') ?? '', /^application\/json/, where);
          const { error } = JSON.parse(text) as { error?: unknown };
          assert.ok(typeof error === 'string' && error.length > 5, where);
          assert.ok(answer.status === 502 || answer.status === 503, where);
        }
        assert.ok(refused >= 5, `only ${refused} were refused`);
      } finally {
        between.says = undefined;
      }
    });

  test('nothing of its own: all is as it was', async () => {
    const answer = await fetch(`${web}/api/agents/${agentId}/config`, { headers });
    assert.equal(answer.status, 200, await answer.text());
  });
});

test('before web a proxy answers with a page: the client says the status, and nothing of the page', async () => {
  const troupe = createTroupe({ url: outside.url, key });
  outside.says = { status: 502, type: 'text/html', body: PAGE };
  await assert.rejects(troupe.call('GET /api/agents'), (error) => {
    assert.ok(error instanceof CallError);
    assert.deepEqual([error.status, error.message, error.body], [502, 'HTTP 502', {}]);
    return true;
  });
  outside.says = undefined;
  assert.equal((await troupe.call('GET /api/agents')).agents.length, 1);
});
