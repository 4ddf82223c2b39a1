import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBalances, createChainClient, stablecoinNetwork, STABLECOINS, tokenBalance } from '@troupe/chain';
import { silentLog } from '@troupe/kernel';
import { finish, printTable } from './lib/report.ts';
import { median } from './lib/sides.ts';

/** All eleven balances against one single call, on an RPC that takes 20 ms to answer. */

const LATENCY_MS = 20;
const ROUNDS = 60;
const ONE = `0x${'1'.padStart(64, '0')}`;
const OWNER = '0x00000000000000000000000000000000000000aa';

type Call = { id: number; method: string };

const answerTo = ({ id, method }: Call) => ({ jsonrpc: '2.0', id, result: method === 'eth_chainId' ? '0x1079' : ONE });

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const part of request) text += String(part);
  const asked = JSON.parse(text) as Call | Call[];
  const body = JSON.stringify(Array.isArray(asked) ? asked.map(answerTo) : answerTo(asked));
  setTimeout(() => response.setHeader('content-type', 'application/json').end(body), LATENCY_MS);
}

const rpc = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
await once(rpc, 'listening');

const chain = createChainClient({
  rpcUrl: `http://127.0.0.1:${(rpc.address() as AddressInfo).port}`,
  network: stablecoinNetwork(false),
});
const all = createBalances({ chain, log: silentLog });

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const single: number[] = [];
const eleven: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  single.push(await timed(() => tokenBalance(chain, STABLECOINS[0]!.address, OWNER)));
  eleven.push(await timed(() => all(OWNER)));
}
// The first rounds open the connection and warm up.
const [one, many] = [median(single.slice(10)), median(eleven.slice(10))];
printTable('Median at 20 ms RPC latency', [
  { query: 'one token', ms: one },
  { query: 'eleven tokens', ms: many },
]);
rpc.close().closeAllConnections();
finish('balances', [{ figure: 'eleven_to_one', value: many / one, atMost: 1.5 }], { one_ms: one, eleven_ms: many });
