import { createAccounts } from '@troupe/accounts';
import { closeAll, createCipher, createServer, serveOpenApi, type Server } from '@troupe/kernel';
import { createRoster } from '@troupe/roster';
import { createAgentKeys } from './agent-keys.ts';
import { addAgents } from './agents.ts';
import type { BackendDeps } from './deps.ts';
import { providerRoutes } from './features/ai/providers.ts';
import { aiRoutes } from './features/ai/routes.ts';
import { createAiService } from './features/ai/service.ts';
import { createSpendWatch } from './features/scheduler/spend-watch.ts';
import { healthRoutes } from './features/health/routes.ts';
import { keyRoutes } from './features/keys/routes.ts';
import { createRuntimeProgram } from './features/installations/program.ts';
import { installationRoutes } from './features/installations/routes.ts';
import { createInstallations } from './features/installations/service.ts';
import { infraRoutes } from './features/infra/routes.ts';
import { hostRewrite } from './features/runtime/target.ts';
import { addUnderground } from './underground.ts';

export type { BackendDeps };

export interface Backend {
  server: Server;
  close: () => Promise<void>;
}

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

  healthRoutes(server, clock);
  keyRoutes(server, accounts);
  infraRoutes(server, clock);
  const installations = createInstallations({
    db,
    clock,
    cipher: createCipher(secrets.walletKey, 'installations'),
    dashboardUrl: `${settings.BASE_URL ?? `http://127.0.0.1:${settings.WEB_PORT}`}/dashboard`,
    open: server.loopback,
  });
  installationRoutes(server, installations, createRuntimeProgram());
  const ai = await createAiService({ settings, db, log, clock, listener: deps.listener, sealKey: secrets.walletKey });
  providerRoutes(server, ai.catalogue);
  aiRoutes(server, { ...ai, clock, ownKey });
  const agents = await addAgents(server, deps, { ai, roster, audit: accounts.audit }, [
    installations.tellQuiet,
    createSpendWatch({ db, clock }),
  ]);
  const underground = addUnderground(server, deps, { accounts, deliver: agents.deliver });

  serveOpenApi(server, 'Troupe backend API', version);
  return { server, close: () => closeAll([accounts, ai, agents, underground, server]) };
}
