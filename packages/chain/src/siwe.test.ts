import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { serializeErc6492Signature } from 'viem';
import { createSiweMessage } from 'viem/siwe';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import {
  createChainClient,
  createRecover,
  createVerifier,
  holdsToken,
  l2Network,
  verifySiwe,
  type Address,
  type Hex,
  type SiweRequest,
  type Verifier,
} from './index.ts';

const NOW = new Date('2026-05-01T12:00:00Z');
const DOMAIN = 'troupe.example';
const recover = createRecover();
let chain: TestChain;
let verifier: Verifier;

before(async () => {
  chain = await startTestChain({ chainId: 8453 });
  verifier = verifierOn(chain.rpcUrl);
});
after(async () => {
  await recover.close();
  await chain.close();
});

const verifierOn = (rpcUrl: string): Verifier =>
  createVerifier({ recover, chain: createChainClient({ rpcUrl, network: l2Network, timeoutMs: 500 }) });

const messageFor = (address: Address, given: Partial<Parameters<typeof createSiweMessage>[0]> = {}): string =>
  createSiweMessage({
    address,
    chainId: 8453,
    domain: DOMAIN,
    nonce: 'nonce12345678',
    uri: `https://${DOMAIN}`,
    version: '1',
    issuedAt: NOW,
    ...given,
  });

const verify = (given: Pick<SiweRequest, 'address' | 'message' | 'signature'> & Partial<SiweRequest>) =>
  verifySiwe({
    domain: DOMAIN,
    chainId: 8453,
    now: NOW,
    nonceValid: (nonce) => Promise.resolve(nonce === 'nonce12345678'),
    verifier,
    ...given,
  });

const INVALID = { ok: false, status: 401, reason: 'Invalid signature' };

describe('wallet sign-in', () => {
  for (const deployed of [true, false]) {
    test(`a ${deployed ? 'deployed' : 'not yet deployed'} smart-contract wallet signs in`, async () => {
      const wallet = await chain.smartWallet({ deployed });
      const message = messageFor(wallet.address);
      const signature = await wallet.signMessage(message);
      assert.deepEqual(await verify({ address: wallet.address, message, signature }), {
        ok: true,
        address: wallet.address,
        nonce: 'nonce12345678',
      });
    });
  }

  test('a signature made before the deployment still counts after it', async () => {
    const wallet = await chain.smartWallet({ deployed: false });
    const message = messageFor(wallet.address);
    const signature = await wallet.signMessage(message);
    await wallet.deploy();
    assert.equal((await verify({ address: wallet.address, message, signature })).ok, true);
  });

  test('an externally owned account is refused, wrapped or not', async () => {
    const account = await chain.account();
    const message = messageFor(account.address);
    const signature = await account.signMessage({ message });
    assert.deepEqual(await verify({ address: account.address, message, signature }), {
      ok: false,
      status: 401,
      reason: 'Only smart-contract wallets are supported',
    });
    const wrapped = serializeErc6492Signature({ address: account.address, data: '0x', signature });
    assert.equal((await verify({ address: account.address, message, signature: wrapped })).ok, false);
  });

  test('anything wrong with message or signature is invalid', async () => {
    const wallet = await chain.smartWallet({ deployed: true });
    const other = await chain.smartWallet({ deployed: true });
    const { address } = wallet;
    const cases: Record<string, { message?: string; signature?: Hex; address?: string }> = {
      'another domain': { message: messageFor(address, { domain: 'evil.example' }) },
      'another chain': { message: messageFor(address, { chainId: 1 }) },
      expired: { message: messageFor(address, { expirationTime: new Date(NOW.getTime() - 1) }) },
      'not yet valid': { message: messageFor(address, { notBefore: new Date(NOW.getTime() + 1000) }) },
      'issued in the future': { message: messageFor(address, { issuedAt: new Date(NOW.getTime() + 120_000) }) },
      'unknown nonce': { message: messageFor(address, { nonce: 'othernonce99' }) },
      'address differs': { address: other.address },
      'no address': { address: 'bob' },
      'no message': { message: 'hello' },
      'signed by another': { signature: await other.signMessage(messageFor(address)) },
      'no signature': { signature: '0x' },
      'not hex': { signature: 'zz' as Hex },
      'too long': { signature: `0x${'00'.repeat(9000)}` },
    };
    for (const [name, given] of Object.entries(cases)) {
      const message = given.message ?? messageFor(address);
      const signature = given.signature ?? (await wallet.signMessage(message));
      assert.deepEqual(await verify({ address: given.address ?? address, message, signature }), INVALID, name);
    }
  });

  test('a network that does not answer is unavailable, never invalid', async (context) => {
    const wallet = await chain.smartWallet({ deployed: true });
    const message = messageFor(wallet.address);
    const request = { address: wallet.address, message, signature: await wallet.signMessage(message) };
    const unavailable = { ok: false, status: 503, reason: 'Verification unavailable' };

    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    const failing = createServer((_, response) => response.writeHead(502).end('bad gateway')).listen(0, '127.0.0.1');
    context.after(() => {
      silent.close().closeAllConnections();
      failing.close();
    });
    const lying = await startTestChain({ chainId: 1 });
    context.after(() => lying.close());
    const urlOf = (server: typeof silent): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const rpcUrl of [urlOf(silent), urlOf(failing), 'http://127.0.0.1:1', lying.rpcUrl]) {
      assert.deepEqual(await verify({ ...request, verifier: verifierOn(rpcUrl) }), unavailable, rpcUrl);
    }
    assert.deepEqual(await verify({ ...request, verifier: undefined }), unavailable);
  });
});

test('token gating reads the balance on the L2 network', async () => {
  const token = await chain.token('0x00000000000000000000000000000000000000aa', { symbol: 'GATE', decimals: 18 });
  const { address } = await chain.account();
  const client = createChainClient({ rpcUrl: chain.rpcUrl, network: l2Network });
  const minBalance = 10n ** 18n;
  await chain.mint(token, address, minBalance - 1n);
  assert.equal(await holdsToken(client, { token, minBalance, address }), false);
  await chain.mint(token, address, 1n);
  assert.equal(await holdsToken(client, { token, minBalance, address }), true);
});
