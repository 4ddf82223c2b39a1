import { createAccounts, type Accounts } from '@troupe/accounts';
import { createKeyring, createWallets } from '@troupe/chain';
import { readCatalogue } from '@troupe/ai';
import { createLedger } from '@troupe/ledger';
import { closeAll, createBackendClient, createServer, secretList, serveOpenApi, type Server } from '@troupe/kernel';
import { addAgents } from './agents.ts';
import { dashboardRoutes } from './dashboard.ts';
import { createChains, type Chains } from './chains.ts';
import type { WebDeps } from './deps.ts';
import { healthRoutes } from './features/health/routes.ts';
import { createHealth } from './features/health/service.ts';
import { createCustody } from './features/wallet/custody.ts';
import { walletRoutes } from './features/wallet/routes.ts';
import { createWalletService } from './features/wallet/service.ts';
import { mailNotices } from './features/notices/mails.ts';
import { demoRoutes } from './features/demo/routes.ts';
import { createDemo } from './features/demo/service.ts';
import { usageRoutes } from './features/usage/routes.ts';
import { createUsage } from './features/usage/service.ts';
import { addPayments } from './payments.ts';
import { identityRoutes } from './identity.ts';
import { operationsRoutes } from './operations.ts';
import { referenceRoutes } from './reference.ts';
import { addSignIn } from './sign-in.ts';

export interface Web {
  server: Server;
  accounts: Accounts;
  chains: Chains;
  close: () => Promise<void>;
}

export async function createWeb(deps: WebDeps): Promise<Web> {
  const { settings, log, counters, secrets, db, clock, url, backendUrl, version } = deps;
  const backend = createBackendClient({ url: backendUrl, ...secrets, clock });
  const accounts = createAccounts({ db, settings, secrets, clock, log, url });
  const server = createServer({ service: 'web', settings, log, counters, secrets, url, accounts });
  server.metrics.gauge('db_pool_connections', 'Open database connections', () => db.stats().total);
  server.metrics.gauge('db_pool_idle', 'Idle database connections', () => db.stats().idle);
  server.metrics.gauge('db_pool_waiting', 'Requests that wait for a database connection', () => db.stats().waiting);

  const health = createHealth({ db, backend, counters, hasRedis: settings.REDIS_URL !== undefined, clock });
  healthRoutes(server, health);
  const { mail } = identityRoutes(server, { ...deps, accounts });

  const chains = createChains({ settings, db, log, clock });
  const wallets = createWallets({ db, keyring: createKeyring(secrets.walletKey), clock });
  if (secretList(secrets.walletKey).length > 1) log.info({ keys: await wallets.rotate() }, 'wallet keys sealed anew');
  const custody = createCustody({ settings, clock, log });
  walletRoutes(server, createWalletService({ ...chains, wallets, custody, log, db, ledger: createLedger({ clock }) }));
  demoRoutes(server, createDemo(backend, readCatalogue(settings.AI_CATALOGUE)));
  usageRoutes(server, createUsage({ db, clock, tokenQuotas: settings.TOKEN_QUOTAS === 'on' }));

  const signIn = addSignIn(server, { ...deps, accounts, chains, mail });

  const payments = addPayments(server, { ...deps, accounts, backend, chains, wallets });

  addAgents(server, { ...deps, accounts, backend });
  operationsRoutes(server, { ...deps, backend, health });
  const notices = mailNotices({ ...deps, accounts, mail, baseUrl: url });

  serveOpenApi(server, 'Troupe web API', version);
  referenceRoutes(server, version);
  await dashboardRoutes(server);
  return { server, accounts, chains, close: () => closeAll([notices, accounts, chains, payments, signIn, server]) };
}
