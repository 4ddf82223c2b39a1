import { readCatalogue } from '@troupe/ai';
import type { Database, Jobs } from '@troupe/db';
import { hmacHex, type BackendClient, type Clock, type Log, type Secrets, type Server } from '@troupe/kernel';
import type { Chains } from './chains.ts';
import { createBuiltIn } from './features/gateway/built-in.ts';
import { createChainPayments } from './features/gateway/pay-402.ts';
import { createPlugins } from './features/gateway/plugins.ts';
import { gatewayRoutes } from './features/gateway/routes.ts';
import { createGateway } from './features/gateway/service.ts';
import { createGatewayStore } from './features/gateway/store.ts';

interface PaymentDeps {
  db: Database;
  jobs: Jobs;
  log: Log;
  clock: Clock;
  secrets: Secrets;
  backend: BackendClient;
  chains: Chains;
}

/** What is paid for, and how. */
export function addPayments(server: Server, deps: PaymentDeps): { close: () => Promise<void> } {
  const { log, db, jobs, clock, secrets, backend, chains } = deps;
  const { settings } = server;
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
