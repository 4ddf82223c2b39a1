import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keccak256, numberToHex, type Address, type Hex } from 'viem';
import { Transaction } from 'viem/tempo';
import type { TestChain } from './chain.ts';

/**
 * What Tempo adds to the test chain: its own transactions (0x76), in front of the same EVM. A call of such a transaction
 * runs there in the name of who signed it; fees are not taken.
 */
export interface TempoNode {
  rpcUrl: string;
  /** How many seconds later than now the newest block says it is. */
  ahead: number;
  close: () => void;
}

type Asked = { id: unknown; method: string; params?: unknown[] };
type Call = { to?: Address; data?: Hex; input?: Hex; value?: Hex };

class Refused extends Error {}

export async function startTempo(chain: TestChain): Promise<TempoNode> {
  /** The hash of a transaction here to the one that the EVM knows. */
  const hashes = new Map<string, Hex>();
  const node = { ahead: 0 };
  const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
    chain.client.request({ method, params } as never);

  async function execute(raw: Hex): Promise<Hex> {
    const hash = keccak256(raw);
    if (hashes.has(hash)) throw new Refused('already known');
    const transaction = Transaction.deserialize(raw as Transaction.TransactionSerializedTempo);
    const { from, calls, chainId, validBefore } = transaction;
    if (from === undefined || chainId !== chain.chainId) throw new Refused('invalid sender or chain');
    const { timestamp } = await chain.client.getBlock();
    if (validBefore !== undefined && BigInt(validBefore) <= timestamp) throw new Refused('transaction expired');
    const call = only(calls as Call[]);
    hashes.set(hash, '0x');
    await ask('hardhat_impersonateAccount', from);
    try {
      const inner = (await ask('eth_sendTransaction', { from, ...call })) as Hex;
      hashes.set(hash, inner);
    } catch (error) {
      hashes.delete(hash);
      throw new Refused(error instanceof Error ? error.message : String(error));
    } finally {
      await ask('hardhat_stopImpersonatingAccount', from);
    }
    return hash;
  }

  /** The network has a block every second, whether anybody does something or not. */
  async function newest(params: unknown[]): Promise<unknown> {
    const { timestamp } = await chain.client.getBlock();
    if (Number(timestamp) < Math.floor(Date.now() / 1000)) await ask('evm_mine');
    const block = (await ask('eth_getBlockByNumber', ...params)) as { timestamp: Hex };
    return { ...block, timestamp: numberToHex(Number(block.timestamp) + node.ahead) };
  }

  /** Says the outer hash wherever the EVM says the inner one. */
  async function lookUp(method: string, hash: Hex): Promise<unknown> {
    const inner = hashes.get(hash);
    const found = await ask(method, inner ?? hash);
    return inner === undefined ? found : JSON.parse(JSON.stringify(found).replaceAll(inner, hash));
  }

  async function answer({ method, params = [] }: Asked): Promise<unknown> {
    const [first] = params;
    switch (method) {
      case 'eth_sendRawTransaction':
      case 'eth_sendRawTransactionSync': {
        if (!/^0x7[68]/.test(String(first))) return ask('eth_sendRawTransaction', first);
        const hash = await execute(first as Hex);
        return method === 'eth_sendRawTransaction' ? hash : lookUp('eth_getTransactionReceipt', hash);
      }
      case 'eth_getTransactionReceipt':
      case 'eth_getTransactionByHash':
        return lookUp(method, first as Hex);
      case 'eth_getBlockByNumber':
        return first === 'latest' ? newest(params) : ask(method, ...params);
      case 'eth_call':
      case 'eth_estimateGas':
        return ask(method, plain(first as Record<string, unknown>), ...params.slice(1, 2));
      case 'eth_fillTransaction':
        throw new Refused('the method eth_fillTransaction does not exist');
      default:
        return ask(method, ...params);
    }
  }

  async function respond(asked: Asked): Promise<object> {
    const head = { jsonrpc: '2.0', id: asked.id };
    try {
      return { ...head, result: await answer(asked) };
    } catch (error) {
      const { message, data, code } = rpcError(error);
      return { ...head, error: { code, message, ...(data === undefined ? {} : { data }) } };
    }
  }

  const server = createServer((request, response) => {
    void (async () => {
      let text = '';
      for await (const part of request) text += String(part);
      const asked = JSON.parse(text) as Asked | Asked[];
      const answers = Array.isArray(asked) ? await Promise.all(asked.map(respond)) : await respond(asked);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answers));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(node, {
    rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close().closeAllConnections(),
  });
}

function only(calls: Call[]): { to: Address; data: Hex } {
  const [call, ...more] = calls;
  if (call?.to === undefined || more.length > 0) throw new Refused('this node runs transactions of one call');
  return { to: call.to, data: call.data ?? call.input ?? '0x' };
}

/** A request with Tempo's fields, as the EVM takes it. */
function plain(request: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(request['calls'])) return request;
  return { from: request['from'], ...only(request['calls'] as Call[]) };
}

function rpcError(error: unknown): { code: number; message: string; data?: unknown } {
  if (error instanceof Refused) return { code: -32_000, message: error.message };
  // What the node itself refused, a revert with its data among it.
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, data } = cause as { code?: unknown; data?: unknown };
    if (typeof code === 'number' && code < 0) return { code, message: cause.message, data };
  }
  return { code: -32_603, message: error instanceof Error ? error.message : String(error) };
}
