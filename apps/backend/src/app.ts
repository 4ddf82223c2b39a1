import { createAccounts } from '@troupe/accounts';
import { closeAll, createServer, serveOpenApi, type Server } from '@troupe/kernel';
import { createRoster } from '@troupe/roster';
import { createAgentKeys } from './agents/agent-keys.ts';
import { hostRewrite } from './agents/runtime/target.ts';
import { wireAgents } from './agents/wire.ts';
import type { BackendDeps } from './deps.ts';
import { wireIdentity } from './identity/wire.ts';
import { wirePlatform } from './platform/wire.ts';
import { wireUnderground } from './underground/wire.ts';

export type { BackendDeps };

export interface Backend {
  server: Server;
  close: () => Promise<void>;
}

/** The areas, each of which uses only those before it. */
export async function createBackend(deps: BackendDeps): Promise<Backend> {
  const { settings, log, counters, secrets, db, clock, url, version } = deps;
  const accounts = createAccounts({ db, settings, secrets, clock, log, url });
  const roster = createRoster({ db, clock, sealKey: secrets.walletKey });
  const { byAgentKey, ownKey } = createAgentKeys({ db, accounts, roster: roster.system });
  const server = createServer({
    service: 'backend',
    settings,
    log,
    counters,
    secrets,
    url,
    accounts: { ...accounts, byAgentKey },
    ready: db.answers,
    rewrite: hostRewrite(settings.AGENTS_DOMAIN),
  });
  server.metrics.gauge('db_pool_connections', 'Open database connections', () => db.stats().total);
  server.metrics.gauge('db_pool_idle', 'Idle database connections', () => db.stats().idle);
  server.metrics.gauge('db_pool_waiting', 'Requests that wait for a database connection', () => db.stats().waiting);

  wirePlatform(server, deps);
  wireIdentity(server, accounts);
  const agents = await wireAgents(server, { ...deps, accounts, roster, ownKey });
  const underground = wireUnderground(server, { ...deps, accounts, roster, deliver: agents.deliver });

  serveOpenApi(server, 'Troupe backend API', version);
  return { server, close: () => closeAll([accounts, agents, underground, server]) };
}
