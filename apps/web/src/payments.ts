import { readCatalogue } from '@troupe/ai';
import type { Database, Jobs } from '@troupe/db';
import { hmacHex, type BackendClient, type Clock, type Log, type Secrets, type Server } from '@troupe/kernel';
import type { Wallets } from '@troupe/chain';
import { createLedger } from '@troupe/ledger';
import { createCardProcessor } from './card-processor.ts';
import type { Chains } from './chains.ts';
import { createBuiltIn } from './features/gateway/built-in.ts';
import { createChainPayments } from './features/gateway/pay-402.ts';
import { createPlugins } from './features/gateway/plugins.ts';
import { gatewayRoutes } from './features/gateway/routes.ts';
import { createGateway } from './features/gateway/service.ts';
import { createGatewayStore } from './features/gateway/store.ts';
import { ledgerRoutes } from './features/ledger/routes.ts';
import { createLedgerService } from './features/ledger/service.ts';
import { topUpRoutes } from './features/topup/routes.ts';
import { createTopUps } from './features/topup/service.ts';
import { createTopUpStore } from './features/topup/store.ts';
import { createOwnsAddress } from './wallet-access.ts';

interface PaymentDeps {
  db: Database;
  jobs: Jobs;
  log: Log;
  clock: Clock;
  secrets: Secrets;
  backend: BackendClient;
  chains: Chains;
  wallets: Wallets;
}

/** What is paid for, and how. */
export function addPayments(server: Server, deps: PaymentDeps): { close: () => Promise<void> } {
  const { log, db, jobs, clock, secrets, backend, chains, wallets } = deps;
  const { settings } = server;
  const ledger = createLedger({ clock });
  const ownsAddress = createOwnsAddress({ wallets, verifier: chains.verifier, clock });
  const baseUrl = settings.BASE_URL ?? server.url;
  const processor = createCardProcessor({ settings, clock, missingStatus: 500 });
  topUpRoutes(server, createTopUps({ db, ledger, processor, store: createTopUpStore({ db, clock }), log, baseUrl }));
  ledgerRoutes(server, createLedgerService({ db, ledger, ownsAddress }));

  const builtIn = createBuiltIn(backend, readCatalogue(settings.AI_CATALOGUE));
  const plugins = createPlugins({ settings, log, builtIn });
  const chainPayments = createChainPayments({
    settings,
    chain: chains.chain,
    jobs,
    log,
    clock,
    store: createGatewayStore({ db, clock }),
    secret: hmacHex(secrets.sessionSecret, 'http 402'),
    book: async () => {},
  });
  gatewayRoutes(server, createGateway({ plugins, chainPayments, clock }));
  return plugins;
}
