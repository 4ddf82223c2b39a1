import {
  createChainClient,
  createIndexer,
  createRecover,
  createVerifier,
  l2Network,
  STABLECOINS,
  stablecoinNetwork,
  type ChainClient,
  type Indexer,
  type Network,
  type Verifier,
} from '@troupe/chain';
import type { Database } from '@troupe/db';
import type { Clock, Log, Settings } from '@troupe/kernel';

/** The networks that are configured, and who checks signatures on them. */
export interface Chains {
  /** Of the stablecoins, with or without an RPC. */
  network: Network;
  chain?: ChainClient;
  indexer?: Indexer;
  l2?: ChainClient;
  /** Keys always; contracts of the stablecoin network when it is configured. */
  verifier: Verifier;
  /** For wallet sign-in; undefined without L2_RPC_URL. */
  l2Verifier?: Verifier;
  close: () => Promise<void>;
}

interface ChainsDeps {
  settings: Settings;
  db: Database;
  log: Log;
  clock: Clock;
}

export function createChains({ settings, db, log, clock }: ChainsDeps): Chains {
  const network = stablecoinNetwork(settings.CHAIN_TESTNET);
  const clientFor = (rpcUrl: string | undefined, of: Network): ChainClient | undefined =>
    rpcUrl === undefined ? undefined : createChainClient({ rpcUrl, network: of });
  const chain = clientFor(settings.CHAIN_RPC_URL, network);
  const l2 = clientFor(settings.L2_RPC_URL, l2Network);
  const tokens = STABLECOINS.map(({ address }) => address);
  const indexer = chain && createIndexer({ chain, db, log, clock, tokens });
  indexer?.start();
  const recover = createRecover();
  return {
    network,
    chain,
    indexer,
    l2,
    verifier: createVerifier({ recover, chain }),
    l2Verifier: l2 && createVerifier({ recover, chain: l2 }),
    async close() {
      await indexer?.stop();
      await recover.close();
    },
  };
}
