import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { silentLog } from '@troupe/kernel';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import { ChainUnavailable, createBalances, createChainClient, STABLECOINS, stablecoinNetwork } from './index.ts';

let chain: TestChain;
before(async () => {
  chain = await startTestChain({ chainId: 4217 });
  for (const { address, symbol } of STABLECOINS) {
    await chain.token(address, { symbol, name: `${symbol} coin`, decimals: symbol === 'GUSD' ? 18 : 6 });
  }
});
after(() => chain.close());

const balancesOn = (rpcUrl: string, testnet = false) =>
  createBalances({
    chain: createChainClient({ rpcUrl, network: stablecoinNetwork(testnet), timeoutMs: 500 }),
    log: silentLog,
  });

const token = (symbol: string) => STABLECOINS.find((one) => one.symbol === symbol)!.address;

/** Passes everything on and counts the requests. */
async function countingProxy(target: string): Promise<{ url: string; server: Server; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const part of request) body += String(part);
      bodies.push(body);
      const answer = await fetch(target, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
      response.setHeader('content-type', 'application/json').end(await answer.text());
    })();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, bodies };
}

describe('stablecoin balances', () => {
  test('an address with nothing', async () => {
    // with a wrong checksum: only its digits count
    const address = '0x00000000000000000000000000000000000000Aa';
    assert.deepEqual(await balancesOn(chain.rpcUrl)(address), {
      address,
      chain: 'Tempo',
      chainId: 4217,
      testnet: false,
      totalUsd: '0.00',
      primaryToken: null,
      allTokens: [],
    });
  });

  test('sums tokens of different decimals, rounds down, and names the first funded one', async () => {
    const { address } = await chain.account();
    await chain.mint(token('GUSD'), address, 2_019_999_999_999_999_999n);
    await chain.mint(token('betaUSD'), address, 1_500_000n);
    const record = await balancesOn(chain.rpcUrl)(address);
    assert.equal(record.totalUsd, '3.51');
    assert.deepEqual(record.primaryToken, {
      address: token('betaUSD'),
      name: 'betaUSD coin',
      symbol: 'betaUSD',
      decimals: 6,
      balance: '1.5',
    });
    assert.deepEqual(
      record.allTokens.map(({ symbol, balance }) => [symbol, balance]),
      [
        ['betaUSD', '1.5'],
        ['GUSD', '2.019999999999999999'],
      ],
    );
    assert.ok(!('decimals' in record.allTokens[0]!));
  });

  test('all tokens are read in one request', async (context) => {
    const proxy = await countingProxy(chain.rpcUrl);
    context.after(() => proxy.server.close().closeAllConnections());
    const { address } = await chain.account();
    const read = balancesOn(proxy.url);
    await read(address);
    assert.equal(proxy.bodies.length, 1);
    await read(address);
    assert.equal(proxy.bodies.length, 2);
    // the chain id and eleven balances; what does not change was asked once
    assert.equal((JSON.parse(proxy.bodies[1]!) as unknown[]).length, 12);
  });

  test('a node that refuses batches is asked one by one, all at once', async (context) => {
    let open = 0;
    let most = 0;
    const server = createServer((request, response) => {
      void (async () => {
        let body = '';
        for await (const part of request) body += String(part);
        response.setHeader('content-type', 'application/json');
        if (body.startsWith('[')) {
          response.writeHead(400).end('{"error":"no batches"}');
          return;
        }
        most = Math.max(most, (open += 1));
        const answer = await fetch(chain.rpcUrl, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json' },
        });
        response.end(await answer.text());
        open -= 1;
      })();
    }).listen(0, '127.0.0.1');
    context.after(() => server.close().closeAllConnections());
    await new Promise((resolve) => server.once('listening', resolve));
    const { address } = await chain.account();
    await chain.mint(token('pathUSD'), address, 1_000_000n);
    const read = balancesOn(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    assert.equal((await read(address)).totalUsd, '1.00');
    assert.equal((await read(address)).totalUsd, '1.00');
    assert.ok(most >= 6, `${most} at once`);
  });

  test('a failing token is left out; one that does not say its decimals has 6', async (context) => {
    const other = await startTestChain({ chainId: 42431 });
    context.after(() => other.close());
    const { address } = await other.account();
    await other.token(token('pathUSD'), { symbol: 'pathUSD' });
    await other.mint(token('pathUSD'), address, 1_000_000n);
    // PUSH 7, return it as one word, whatever is asked but for `decimals` and `name`, which revert
    await other.client.setCode({
      address: token('alphaUSD'),
      bytecode: '0x60003560e01c6370a0823114601357600080fd5b621e848060005260206000f3',
    });
    await other.client.setCode({ address: token('betaUSD'), bytecode: '0xfe' });
    const record = await balancesOn(other.rpcUrl, true)(address);
    assert.equal(record.chain, 'Tempo Testnet');
    assert.equal(record.chainId, 42431);
    assert.equal(record.testnet, true);
    assert.equal(record.totalUsd, '3.00');
    assert.deepEqual(
      record.allTokens.map(({ symbol, name, balance }) => [symbol, name, balance]),
      [
        ['pathUSD', 'pathUSD', '1'],
        ['alphaUSD', 'alphaUSD', '2'],
      ],
    );
  });

  test('no token answering, no RPC, or the wrong chain is an error', async (context) => {
    const { address } = await chain.account();
    const empty = await startTestChain({ chainId: 4217 });
    context.after(() => empty.close());
    await assert.rejects(balancesOn(empty.rpcUrl)(address), ChainUnavailable);
    await assert.rejects(balancesOn('http://127.0.0.1:1')(address), ChainUnavailable);
    await assert.rejects(balancesOn(chain.rpcUrl, true)(address), /serves chain 4217, not 42431/);
  });
});
