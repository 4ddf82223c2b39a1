import { createAccounts, type Accounts } from '@troupe/accounts';
import { readCatalogue } from '@troupe/ai';
import { closeAll, createBackendClient, createServer, type Server } from '@troupe/kernel';
import { createLedger } from '@troupe/ledger';
import { wireAgents } from './agents/wire.ts';
import type { WebDeps } from './deps.ts';
import { wireIdentity } from './identity/wire.ts';
import { createChains, type Chains } from './money/chains.ts';
import { wireMoney } from './money/wire.ts';
import { wirePlatform } from './platform/wire.ts';
import { wireUnderground } from './underground/wire.ts';

export interface Web {
  server: Server;
  accounts: Accounts;
  chains: Chains;
  close: () => Promise<void>;
}

/** The areas, each of which uses only those before it. */
export async function createWeb(deps: WebDeps): Promise<Web> {
  const { settings, log, counters, secrets, db, clock, url, backendUrl, jobs, passwords } = deps;
  const backend = createBackendClient({ url: backendUrl, ...secrets, clock });
  const accounts = createAccounts({ db, settings, secrets, clock, log, url, jobs, passwords });
  const chains = createChains({ settings, db, log, clock });
  const ledger = createLedger({ clock });
  const catalogue = readCatalogue(settings.AI_CATALOGUE);
  const server = createServer({ service: 'web', settings, log, counters, secrets, url, accounts, ready: db.answers });
  server.metrics.gauge('db_pool_connections', 'Open database connections', () => db.stats().total);
  server.metrics.gauge('db_pool_idle', 'Idle database connections', () => db.stats().idle);
  server.metrics.gauge('db_pool_waiting', 'Requests that wait for a database connection', () => db.stats().waiting);

  const platform = wirePlatform(server, { ...deps, accounts, backend });
  const { l2, l2Verifier } = chains;
  const identity = wireIdentity(server, { ...deps, accounts, backend, ledger, mail: platform.mail, l2, l2Verifier });
  const agents = wireAgents(server, { ...deps, accounts, backend, catalogue });
  const askAgent = agents.askMain;
  const money = await wireMoney(server, { ...deps, accounts, backend, catalogue, chains, ledger, askAgent });
  wireUnderground(server, backend);
  const notices = await platform.finish();
  return { server, accounts, chains, close: () => closeAll([notices, accounts, chains, money, identity, server]) };
}
