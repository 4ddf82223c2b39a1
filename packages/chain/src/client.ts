import type { Chain, PublicClient, Transport } from 'viem';
import { createOutbound, type Outbound } from '@troupe/kernel';
import { createBatchFetch } from './batch-fetch.ts';
import { viem } from './viem.ts';

/** The chain did not answer, or is not the chain it should be. Says nothing about what was asked. */
export class ChainUnavailable extends Error {
  override readonly name = 'ChainUnavailable';
}

export interface Network {
  id: number;
  name: string;
  testnet: boolean;
  explorer: string;
}

const NETWORKS = {
  mainnet: { id: 4217, name: 'Tempo', testnet: false, explorer: 'https://explore.tempo.xyz' },
  testnet: { id: 42431, name: 'Tempo Testnet', testnet: true, explorer: 'https://explore.testnet.tempo.xyz' },
  l2: { id: 8453, name: 'Base', testnet: false, explorer: 'https://basescan.org' },
} as const satisfies Record<string, Network>;

export const stablecoinNetwork = (testnet: boolean): Network => (testnet ? NETWORKS.testnet : NETWORKS.mainnet);
export const l2Network: Network = NETWORKS.l2;

export const explorerAddressUrl = (network: Network, address: string): string =>
  `${network.explorer}/address/${address}`;

export interface ChainClient {
  network: Network;
  rpcUrl: string;
  viem: PublicClient<Transport, Chain>;
  /** Runs reads and the check of the chain id together; what cannot be answered is a ChainUnavailable. */
  read: <T>(work: (client: PublicClient<Transport, Chain>) => Promise<T>) => Promise<T>;
}

export interface ChainClientOptions {
  rpcUrl: string;
  network: Network;
  /** How long one request may take. */
  timeoutMs?: number;
}

export function createChainClient({ rpcUrl, network, timeoutMs = 5_000 }: ChainClientOptions): ChainClient {
  // The node is the operator's own choice. What is asked of it is asked again where a kept connection was closed.
  const outbound = createOutbound({ allowLoopback: true, allowPrivate: true, keepAlive: true, idleTimeout: timeoutMs });
  let made: PublicClient<Transport, Chain> | undefined;
  const client = () => (made ??= publicClient(network, rpcUrl, { outbound, timeoutMs }));
  return {
    network,
    rpcUrl,
    get viem() {
      return client();
    },
    async read(work) {
      const [chainId, result] = await Promise.allSettled([client().getChainId(), work(client())]);
      if (chainId.status === 'rejected')
        throw new ChainUnavailable('the RPC does not answer', { cause: chainId.reason });
      // Before the result: what another chain says, errors included, means nothing here.
      if (chainId.value !== network.id) {
        throw new ChainUnavailable(`the RPC serves chain ${chainId.value}, not ${network.id}`);
      }
      if (result.status === 'fulfilled') return result.value;
      if (!isUnanswered(result.reason)) throw result.reason;
      throw new ChainUnavailable('the RPC does not answer', { cause: result.reason });
    },
  };
}

function publicClient(
  { id, name }: Network,
  rpcUrl: string,
  { outbound, timeoutMs }: { outbound: Outbound; timeoutMs: number },
): PublicClient<Transport, Chain> {
  const { createPublicClient, defineChain, http } = viem();
  return createPublicClient({
    chain: defineChain({
      id,
      name,
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [rpcUrl] } },
    }),
    // Everything that is asked in one turn of the event loop travels in one request.
    transport: http(rpcUrl, {
      batch: { wait: 0 },
      fetchFn: createBatchFetch({ outbound, timeoutMs }),
      timeout: timeoutMs,
      retryCount: 1,
      retryDelay: 50,
    }),
    cacheTime: 0,
    pollingInterval: 250,
  });
}

/** True when a request got no usable answer, as against an answer that refuses. */
export function isUnanswered(error: unknown): boolean {
  return (
    error instanceof viem().BaseError &&
    error.walk((cause) => cause instanceof viem().HttpRequestError || cause instanceof viem().TimeoutError) !== null
  );
}
