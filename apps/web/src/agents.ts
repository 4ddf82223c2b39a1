import type { Accounts } from '@troupe/accounts';
import { readCatalogue } from '@troupe/ai';
import { createHosting, createRegistry, type Registry } from '@troupe/fleet';
import { createBackendClient, type BackendClient, type Server } from '@troupe/kernel';
import type { WebDeps } from './deps.ts';
import { createReads } from './features/agents/reads.ts';
import { agentRoutes } from './features/agents/routes.ts';
import { createAgents } from './features/agents/service.ts';
import { backupRoutes } from './features/backups/routes.ts';
import { createBackups } from './features/backups/service.ts';
import { chatRoutes } from './features/chat/routes.ts';
import { createChat } from './features/chat/service.ts';
import { conversationRoutes } from './features/conversations/routes.ts';
import { createConversations } from './features/conversations/service.ts';
import { heartbeatRoutes } from './features/heartbeat/routes.ts';
import { createHeartbeats } from './features/heartbeat/service.ts';
import { instanceRoutes } from './features/instance/routes.ts';
import { createInstances } from './features/instance/service.ts';
import { memoryRoutes } from './features/memory/routes.ts';
import { createMemory } from './features/memory/service.ts';
import { modelRoutes } from './features/models/routes.ts';
import { createHostedProvision } from './features/provision/hosting.ts';
import { provisionRoutes } from './features/provision/routes.ts';
import { createProvision } from './features/provision/service.ts';
import { teamRoutes } from './features/teams/routes.ts';
import { createTeams } from './features/teams/service.ts';

export interface AgentDeps extends WebDeps {
  accounts: Accounts;
  backend: BackendClient;
}

/** What people do with agents. Whatever runs is the backend's; the rows are shared. */
export function addAgents(server: Server, deps: AgentDeps): { registry: Registry } {
  const { settings, db, clock, log, secrets, backend, backendUrl, accounts, version } = deps;
  const registry = createRegistry({ db, clock, sealKey: secrets.walletKey });
  const catalogue = readCatalogue(settings.AI_CATALOGUE);
  const { subscriber } = accounts;
  const { AGENTS_DOMAIN: agentsDomain, PROVISIONING_DISABLED: disabled, BACKEND_FALLBACK_URL: fallback } = settings;
  const { sessionSecret } = secrets;

  const agents = createAgents({
    registry,
    backend,
    backendUrl,
    agentsDomain,
    loopback: server.loopback,
    sessionSecret,
    clock,
    log,
    subscriber,
    premium: catalogue.premium,
    disabled,
  });
  agentRoutes(server, agents, createReads({ registry, backend, log }), clock);
  modelRoutes(server, backend, catalogue);
  const backends = [backend, ...(fallback ? [createBackendClient({ url: fallback, ...secrets, clock })] : [])];
  const hosting = createHostedProvision({
    driver: createHosting({
      settings,
      registry,
      log,
      version,
      platformUrl: backendUrl,
      sessionSecret: secrets.sessionSecret,
      // Web lets nobody in: it only puts agents there.
      verify: async () => undefined,
    }),
    registry,
    agentsDomain,
    premium: catalogue.premium,
  });
  provisionRoutes(server, createProvision({ db, backends, hosting, log, subscriber, disabled }));
  teamRoutes(server, createTeams({ db, backend, clock, subscriber, disabled }));
  instanceRoutes(server, createInstances({ db, registry, backend, agentsDomain, version }));
  backupRoutes(server, createBackups({ registry, backend }));
  chatRoutes(server, createChat({ registry, backend, clock }));
  conversationRoutes(server, createConversations({ registry, backend }));
  memoryRoutes(server, createMemory({ registry, backend }));
  heartbeatRoutes(server, createHeartbeats({ db, registry, clock }));
  return { registry };
}
