import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';

/** The command `troupe` at a platform, or an agent, that means its user ill: the terminal and the browser are not theirs. */

const MAIN = path.resolve(import.meta.dirname, '../../apps/cli/src/main.mjs');
/** Into the clipboard, a cleared screen in eight bits, and words turned around. */
const STEERS = '\u001b]52;c;cm0gLXJm\u0007 \u009b2J \u202edesrever';

let page = '';
const answers: Record<string, () => [status: number, body: object]> = {
  '/.well-known/oauth-authorization-server': () => [200, { issuer: base(), authorization_endpoint: page }],
  '/oauth/register': () => [201, { client_id: 'x' }],
  '/api/keys/validate': () => [400, { error: `No ${STEERS}` }],
  '/api/agents': () => [200, { agents: [{ id: 'a', name: STEERS, status: 'running' }], hasMore: false }],
};
const server = createServer((request, response) => {
  const [status, body] = answers[(request.url ?? '').split('?')[0]!]?.() ?? [404, { error: 'x' }];
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
const base = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(() => {
  server.closeAllConnections();
  server.close();
});

const troupe = (...args: string[]): Promise<{ failed: boolean; out: string; err: string }> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HOME: '/nonexistent', TROUPE_URL: base(), TROUPE_KEY: 'x' };
    execFile(process.execPath, [MAIN, ...args], { env, timeout: 20_000 }, (error, out, err) =>
      resolve({ failed: error !== null, out, err }),
    );
  });

// oxlint-disable-next-line no-control-regex -- what must not come
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

test('nothing that it says steers the terminal', async () => {
  const login = await troupe('login', '--url', base(), '--key', 'x');
  assert.match(login.err, /^troupe: No /);
  const list = await troupe('agents');
  assert.match(list.out, /desrever/);
  const json = await troupe('agents', '--json');
  assert.equal(JSON.parse(json.out).agents[0].name, STEERS, 'programs read what it said');
  for (const { out, err } of [login, list, json]) assert.doesNotMatch(out + err, STEERING);
});

test('nothing but a page is opened', async () => {
  for (page of ['file:///etc/passwd', 'ms-msdt:/id', '\\\\evil\\share', '', 'javascript:alert(1)']) {
    const { failed, err } = await troupe('login', '--browser', '--url', base());
    assert.ok(failed);
    assert.equal(err, 'troupe: The platform names no page to ask at\n', page);
  }
});
