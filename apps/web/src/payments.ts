import { hmacHex, type Server } from '@troupe/kernel';
import type { WebDeps } from './app.ts';
import type { Chains } from './chains.ts';
import { createChainPayments } from './features/gateway/pay-402.ts';
import { createPlugins } from './features/gateway/plugins.ts';
import { gatewayRoutes } from './features/gateway/routes.ts';
import { createGateway } from './features/gateway/service.ts';
import { createGatewayStore } from './features/gateway/store.ts';

/** What is paid for, and how. */
export function addPayments(server: Server, deps: WebDeps, { chain }: Chains): { close: () => Promise<void> } {
  const { settings, log, db, jobs, clock, secrets } = deps;
  const plugins = createPlugins({ settings, log, builtIn: {} });
  const chainPayments = createChainPayments({
    settings,
    chain,
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
