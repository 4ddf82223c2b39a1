import assert from 'node:assert/strict';
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import { jwtVerify } from 'jose';
import { signedIn, testWeb } from '../../testing.ts';
import { createCdpAccount } from './cdp.ts';

const apiKey = generateKeyPairSync('ed25519');
const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const walletKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = apiKey.privateKey.export({ format: 'jwk' }) as { d: string; x: string };
const accounts = new Map<string, string>();
/** Instead of what CDP should answer; `null`: nothing at all. */
let instead: { status: number; body: string; headers?: Record<string, string> } | null | undefined;
let seen: { request: IncomingMessage; text: string }[] = [];
beforeEach(() => {
  instead = undefined;
  seen = [];
});

const verified = (token: unknown, key: KeyObject) =>
  jwtVerify(String(token).replace('Bearer ', ''), createPublicKey(key));

/** Answers as CDP does, and only to requests that are signed as CDP wants it. */
async function answer(request: IncomingMessage, text: string): Promise<{ status: number; body: object }> {
  const byEc = request.headers.authorization?.includes(Buffer.from('{"alg":"ES256"').toString('base64url'));
  const { payload } = await verified(request.headers.authorization, byEc ? ecKey.privateKey : apiKey.privateKey);
  assert.deepEqual(payload['uris'], [`${request.method} ${host}${request.url}`]);
  const byName = /^\/platform\/v2\/evm\/accounts\/by-name\/([\w-]+)$/.exec(request.url ?? '')?.[1];
  if (byName) return { status: 200, body: { address: accounts.get(byName), name: byName } };
  assert.deepEqual([request.method, request.url], ['POST', '/platform/v2/evm/accounts']);
  const wallet = await verified(request.headers['x-wallet-auth'], walletKey.privateKey);
  assert.equal(wallet.payload['reqHash'], createHash('sha256').update(text).digest('hex'));
  const { name } = JSON.parse(text) as { name: string };
  assert.match(name, /^[A-Za-z0-9][A-Za-z0-9-]{0,34}[A-Za-z0-9]$/);
  if (accounts.has(name)) return { status: 409, body: { errorType: 'already_exists', errorMessage: 'taken' } };
  accounts.set(name, `0x${'ab'.repeat(19)}${String(accounts.size).padStart(2, '0')}`);
  return { status: 201, body: { address: accounts.get(name), name } };
}

const cdp = createServer((request, response) => {
  void (async () => {
    let text = '';
    for await (const part of request) text += String(part);
    seen.push({ request, text });
    if (instead === null) return;
    const json = { 'content-type': 'application/json' };
    if (instead) {
      response.writeHead(instead.status, { ...json, ...instead.headers }).end(instead.body);
      return;
    }
    const { status, body } = await answer(request, text).catch((error: unknown) => {
      console.error(error);
      return { status: 401, body: { errorType: 'unauthorized' } };
    });
    response.writeHead(status, json).end(JSON.stringify(body));
  })();
});
await new Promise<void>((resolve) => cdp.listen(0, '127.0.0.1', resolve));
const host = `127.0.0.1:${(cdp.address() as AddressInfo).port}`;
const env = {
  CDP_PROJECT_ID: 'project-1',
  CDP_API_KEY_ID: 'key-1',
  CDP_API_KEY_SECRET: Buffer.concat([Buffer.from(jwk.d, 'base64url'), Buffer.from(jwk.x, 'base64url')]).toString(
    'base64',
  ),
  CDP_WALLET_SECRET: walletKey.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
  CDP_API_BASE: `http://${host}`,
};
const web = await testWeb({ env });
after(async () => {
  await web.stop();
  cdp.close().closeAllConnections();
});

async function get(url: string, headers: Record<string, string> = {}) {
  return (await web.server.app.inject({ url, headers })).json();
}
async function create(headers: Record<string, string>) {
  const payload = { email: 'a@b.co' };
  const answered = await web.server.app.inject({ method: 'POST', url: '/api/wallet/create', payload, headers });
  return { status: answered.statusCode, body: answered.json() };
}

test('custody is told to anybody', async () => {
  const body = await get('/api/wallet');
  assert.equal(body.agenticWallet.status, 'configured');
  assert.equal(body.agenticWallet.projectId, 'project-1');
  assert.ok(body.agenticWallet.features.length > 0 && body.instructions);
  assert.equal((await get('/api/wallet/cdp')).type, 'cdp');
});

test('makes one wallet for a user, also when asked twice', async () => {
  const { headers } = await signedIn(web);
  const first = await create(headers);
  assert.equal(first.status, 200);
  assert.equal(first.body.success, true);
  assert.match(first.body.walletAddress, /^0x/);
  assert.ok(first.body.networks.includes('base'));
  assert.deepEqual((await create(headers)).body, first.body);
  const { address } = await get('/api/wallet/address', headers);
  assert.equal(address.toLowerCase(), first.body.walletAddress.toLowerCase());
});

test('both tokens say what CDP asks for', async () => {
  await create((await signedIn(web)).headers);
  const { headers } = seen[0]!.request;
  const bearer = await verified(headers.authorization, apiKey.privateKey);
  const { alg, kid, typ, nonce } = bearer.protectedHeader as Record<string, unknown>;
  assert.deepEqual([alg, kid, typ], ['EdDSA', 'key-1', 'JWT']);
  assert.match(String(nonce), /^[0-9a-f]{32}$/);
  const { iss, sub, aud, iat, nbf, exp } = bearer.payload;
  assert.deepEqual([iss, sub, aud], ['cdp', 'key-1', ['cdp_service']]);
  assert.deepEqual([nbf, exp], [iat, iat! + 120]);
  const wallet = await verified(headers['x-wallet-auth'], walletKey.privateKey);
  assert.deepEqual(wallet.protectedHeader, { alg: 'ES256', typ: 'JWT' });
  assert.deepEqual(wallet.payload['uris'], [`POST ${host}/platform/v2/evm/accounts`]);
  assert.match(wallet.payload.jti!, /^[0-9a-f]{32}$/);
});

test('a key may be a PEM, with its lines written as \\n', async () => {
  const pem = String(ecKey.privateKey.export({ format: 'pem', type: 'sec1' })).replaceAll('\n', '\\n');
  const settings = { ...web.deps.settings, CDP_API_KEY_SECRET: pem };
  const { address } = await createCdpAccount({ settings, clock: web.deps.clock }, 'somebody');
  assert.match(address, /^0x/);
  const { protectedHeader } = await verified(seen[0]!.request.headers.authorization, ecKey.privateKey);
  assert.equal(protectedHeader.alg, 'ES256');
});

for (const [name, given, details] of [
  ['an error with its type', { status: 503, body: '{"errorType":"unavailable"}' }, 'CDP answered 503 unavailable'],
  ['an error without words', { status: 500, body: '<html>' }, 'CDP answered 500'],
  ['a refusal of the key', { status: 401, body: '{"errorType":"unauthorized"}' }, 'CDP answered 401 unauthorized'],
  ['no address', { status: 201, body: '{"name":"x"}' }, 'CDP answered without an address'],
  ['an address that is none', { status: 201, body: '{"address":"0x12"}' }, 'CDP answered without an address'],
  ['a redirect', { status: 302, body: '{}', headers: { location: '/elsewhere' } }, 'CDP answered 302'],
] as const)
  test(`${name} is a 500 that says why`, async () => {
    instead = given;
    const { headers } = await signedIn(web);
    assert.deepEqual(await create(headers), { status: 500, body: { error: 'Wallet creation failed', details } });
    assert.equal(seen.length, 1);
    assert.equal((await get('/api/wallet/address', headers)).address, null);
  });

test('silence ends', async () => {
  instead = null;
  const deps = { settings: web.deps.settings, clock: web.deps.clock, timeoutMs: 200 };
  await assert.rejects(createCdpAccount(deps, 'somebody else'), /time/i);
});
