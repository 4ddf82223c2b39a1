import type { Accounts } from '@troupe/accounts';
import type { Catalogue } from '@troupe/domain';
import { aiProvidersChanged, applyConfigJob, tryCaseJob } from '@troupe/contract';
import {
  createBackendClient,
  createCipher,
  createOutbound,
  createWorkerPool,
  type BackendClient,
  type Server,
  type User,
} from '@troupe/kernel';
import { createHostingPlatform, createLogins, createRoster, createUserServers, type Roster } from '@troupe/roster';
import type { WebDeps } from '../deps.ts';
import { createReads } from './agents/reads.ts';
import { createClones } from './agents/clones.ts';
import { agentRoutes } from './agents/routes.ts';
import { createAgents, type AgentsService } from './agents/service.ts';
import { backupRoutes } from './backups/routes.ts';
import { createBackups } from './backups/service.ts';
import { chatRoutes } from './chat/routes.ts';
import { createChat } from './chat/service.ts';
import { compareRoutes } from './compare/routes.ts';
import { createCompare } from './compare/service.ts';
import { configRoutes } from './config/routes.ts';
import { createConfig } from './config/service.ts';
import { channelRoutes } from './channels/routes.ts';
import { createChannels } from './channels/service.ts';
import { connectionRoutes } from './connections/routes.ts';
import { createConnections } from './connections/service.ts';
import { backgroundRoutes } from './background/routes.ts';
import { createBackground } from './background/service.ts';
import { createKeeping } from './conversations/keeping.ts';
import { conversationRoutes, keepingRoutes } from './conversations/routes.ts';
import { createConversations, type ConversationsService } from './conversations/service.ts';
import { demoRoutes } from './demo/routes.ts';
import { createDemo } from './demo/service.ts';
import { deviceRoutes } from './devices/routes.ts';
import { createDevices } from './devices/service.ts';
import { evaluationRoutes } from './evaluations/routes.ts';
import { createEvaluations, createUntried } from './evaluations/service.ts';
import { fileRoutes } from './files/routes.ts';
import { createFiles } from './files/service.ts';
import { heartbeatRoutes } from './heartbeat/routes.ts';
import { createHeartbeats } from './heartbeat/service.ts';
import { importRoutes } from './imports/routes.ts';
import { createImports } from './imports/service.ts';
import { inboxRoutes } from './inbox/routes.ts';
import { createMarks } from './inbox/marks.ts';
import { createInbox } from './inbox/service.ts';
import { createSeveral } from './inbox/several.ts';
import { installationRoutes } from './installations/routes.ts';
import { instanceRoutes } from './instance/routes.ts';
import { createInstances } from './instance/service.ts';
import { knowledgeRoutes } from './knowledge/routes.ts';
import { createKnowledge } from './knowledge/service.ts';
import { liveRoutes } from './live/routes.ts';
import { createLive } from './live/service.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { createMcp } from './mcp/service.ts';
import { memoryRoutes } from './memory/routes.ts';
import { createMemory } from './memory/service.ts';
import { modelKeyRoutes } from './model-keys/routes.ts';
import { createModelKeys } from './model-keys/service.ts';
import { createKnownModels, type KnownModels } from './models/service.ts';
import { modelRoutes } from './models/routes.ts';
import { providerRoutes } from './providers/routes.ts';
import { createProviders } from './providers/service.ts';
import { createHostedProvision } from './provision/hosting.ts';
import { loginRoutes } from './logins/routes.ts';
import { createLoginsService } from './logins/service.ts';
import { provisionRoutes } from './provision/routes.ts';
import { createProvision } from './provision/service.ts';
import { sayRoutes } from './say/routes.ts';
import { createSay } from './say/service.ts';
import { searchRoutes } from './search/routes.ts';
import { createSearch } from './search/service.ts';
import { serverRoutes } from './servers/routes.ts';
import { createServers } from './servers/service.ts';
import { shareRoutes } from './shares/routes.ts';
import { createShares } from './shares/service.ts';
import { skillRoutes } from './skills/routes.ts';
import { createSkills } from './skills/service.ts';
import { stageRoutes } from './stage/routes.ts';
import { createStage } from './stage/service.ts';
import { taskRoutes } from './tasks/routes.ts';
import { createTasks, type TasksService } from './tasks/service.ts';
import { teamRoutes } from './teams/routes.ts';
import { createTeams } from './teams/service.ts';
import { triggerRoutes } from './triggers/routes.ts';
import { createTriggers } from './triggers/service.ts';
import { workOnRetention } from './widgets/retention.ts';
import { widgetRoutes } from './widgets/routes.ts';
import { createWidgets } from './widgets/service.ts';
import { createVisiting } from './widgets/visiting.ts';

interface AgentDeps extends WebDeps {
  accounts: Accounts;
  backend: BackendClient;
  catalogue: Catalogue;
}

export interface Agents {
  /** Asks the main agent of a user, as a chat does; null: there is none. */
  askMain: (
    user: User,
    message: string,
    address: string,
    signal: AbortSignal,
  ) => Promise<{ agentId: string; reply: string } | null>;
}

function wireLive(server: Server, { db, backend, clock, listener, log }: AgentDeps, roster: Roster): void {
  const stage = createStage({ db, clock });
  stageRoutes(server, stage);
  liveRoutes(server, createLive({ db, roster, backend, listener, stage, log }));
}

interface InboxParts extends AgentDeps {
  tasks: TasksService;
  conversations: ConversationsService;
}

function wireInbox(server: Server, { db, backend, log, clock, tasks, conversations }: InboxParts): void {
  const inbox = createInbox({ db, backend, log });
  const marks = createMarks({ db, clock, tasks });
  inboxRoutes(server, { inbox, marks, several: createSeveral({ inbox, marks, conversations, log }) });
}

/** Wires what people do with agents. Whatever runs is the backend's; the rows are shared. */
export function wireAgents(server: Server, deps: AgentDeps): Agents {
  const { backend, catalogue, clock, db, jobs, listener, log, secrets } = deps;
  const roster = createRoster({ db, clock, sealKey: secrets.walletKey });
  const models = createKnownModels({ backend, catalogue, log });
  listener.on(aiProvidersChanged, () => models.forget());
  providerRoutes(
    server,
    createProviders({ db, backend, clock, audit: deps.accounts.audit, sealKey: secrets.walletKey }),
  );
  modelKeyRoutes(server, createModelKeys({ roster, backend, audit: deps.accounts.audit }));
  const agents = wireMaking(server, deps, roster, models);
  const chat = createChat({ roster, backend, clock });
  chatRoutes(server, chat);
  const conversations = createConversations({ roster, backend, models, clock });
  conversationRoutes(server, conversations);
  compareRoutes(server, createCompare({ roster, models, conversations }));
  keepingRoutes(server, createKeeping({ roster, backend, models }));
  shareRoutes(server, createShares({ db, roster, backend, clock, url: deps.url }));
  fileRoutes(server, createFiles({ roster, backend, untried: createUntried({ db }) }));
  const tasks = createTasks({ db, clock });
  wireInbox(server, { ...deps, tasks, conversations });
  searchRoutes(server, createSearch({ db, backend, log }));
  wireLive(server, deps, roster);
  backgroundRoutes(server, createBackground({ roster, backend }));
  const memory = createMemory({ db, jobs, roster, backend });
  memoryRoutes(server, memory);
  heartbeatRoutes(server, createHeartbeats({ db, roster, clock }));
  backupRoutes(server, createBackups({ roster, backend }));
  jobs.define(applyConfigJob);
  configRoutes(server, createConfig({ db, clock, jobs }));
  jobs.define(tryCaseJob);
  evaluationRoutes(server, createEvaluations({ db, jobs, roster, backend, models, clock }));
  deviceRoutes(server, createDevices({ db, clock, cipher: createCipher(secrets.walletKey, 'devices') }));
  taskRoutes(server, tasks);
  sayRoutes(
    server,
    createSay({ db, clock, backend, catalogue, agents, tasks, models, subscriber: deps.accounts.subscriber }),
  );
  const hooks = { db, clock, counters: server.counters, url: deps.url };
  triggerRoutes(server, createTriggers({ ...hooks, cipher: createCipher(secrets.walletKey, 'triggers') }), tasks);
  wireWidgets(server, deps, roster);
  const mcp = createMcp({ roster, chat, conversations, memory, tasks, log, version: deps.version });
  mcpRoutes(server, mcp);
  server.app.addHook('onClose', () => mcp.close());
  channelRoutes(server, createChannels({ roster, backend }));
  const logins = createLogins({ db, sealKey: secrets.walletKey });
  loginRoutes(server, createLoginsService({ roster, logins, clock }));
  wireServers(server, deps, roster);
  installationRoutes(server, backend);
  demoRoutes(server, createDemo(backend, catalogue, server.counters));
  return {
    async askMain(user, message, address, signal) {
      const agentId = (await roster.of(user.id).list({ limit: 1, offset: 0 }))[0]?.id;
      if (agentId === undefined) return null;
      const { reply } = await chat.send(user, { message, agentId, topic: 'gateway' }, address, signal);
      return { agentId, reply };
    },
  };
}

/** MCP servers: of one agent, and of all of a user's. */
function wireServers(server: Server, { db, backend, clock, log, secrets }: AgentDeps, roster: Roster): void {
  const servers = createUserServers({ db, sealKey: secrets.walletKey });
  const ofAll = createServers({ servers, roster, backend, clock, log });
  serverRoutes(server, ofAll);
  const untried = createUntried({ db });
  connectionRoutes(server, createConnections({ db, roster, servers, backend, log, untried }), ofAll);
}

/** Where people talk to agents who are no users of the platform. */
function wireWidgets(server: Server, deps: AgentDeps, roster: Roster): void {
  const { db, jobs, backend, clock, url, secrets, listener, log, accounts } = deps;
  const { sessionSecret } = secrets;
  const { counters } = server;
  workOnRetention({ db, jobs, backend, accounts, clock });
  const visiting = createVisiting({ db, backend, accounts, clock, counters, sessionSecret, listener, log });
  widgetRoutes(server, createWidgets({ db, roster, backend, jobs, clock, url }), visiting);
}

/** Agents and teams: made, shown, changed and removed. */
function wireMaking(server: Server, deps: AgentDeps, roster: Roster, models: KnownModels): AgentsService {
  const { settings, db, clock, listener, log, secrets, backend, backendUrl, accounts, version, catalogue } = deps;
  const { subscriber } = accounts;
  const { AGENTS_DOMAIN: agentsDomain, PROVISIONING_DISABLED: disabled, BACKEND_FALLBACK_URL: fallback } = settings;
  const { sessionSecret } = secrets;

  const agents = createAgents({
    roster,
    backend,
    backendUrl,
    agentsDomain,
    loopback: server.loopback,
    sessionSecret,
    clock,
    subscriber,
    premium: catalogue.premium,
    disabled,
    models,
  });
  agentRoutes(server, agents, createReads({ roster, backend, listener, log }), createClones(clock));
  modelRoutes(server, backend, catalogue);
  const backends = [backend, ...(fallback ? [createBackendClient({ url: fallback, ...secrets, clock })] : [])];
  const outbound = createOutbound({ allowLoopback: true, allowPrivate: true });
  server.app.addHook('onClose', () => outbound.close());
  const hosting = createHostedProvision({
    platform: createHostingPlatform({
      settings,
      roster: roster.system,
      outbound,
      log,
      version,
      platformUrl: backendUrl,
      sessionSecret: secrets.sessionSecret,
    }),
    roster,
    agentsDomain,
    premium: catalogue.premium,
  });
  provisionRoutes(server, createProvision({ db, backends, hosting, log, subscriber, disabled }));
  const pool = createWorkerPool();
  server.app.addHook('onClose', () => pool.close());
  const outside = createOutbound();
  server.app.addHook('onClose', () => outside.close());
  const skills = createSkills({ db, roster, backend, catalogue, clock, pool, outbound: outside });
  skillRoutes(server, skills);
  const knowledge = createKnowledge({ db, jobs: deps.jobs, roster, backend, clock, pool, outbound: outside, log });
  knowledgeRoutes(server, knowledge);
  const teams = createTeams({ db, backend, clock, subscriber, disabled, pool, roster, knowledge, log });
  teamRoutes(server, teams);
  const parts = {
    teams,
    skills,
    files: createFiles({ roster, backend, untried: createUntried({ db }) }),
    memory: createMemory({ db, jobs: deps.jobs, roster, backend }),
  };
  importRoutes(server, createImports({ ...parts, tasks: createTasks({ db, clock }), pool, subscriber, log }));
  instanceRoutes(server, createInstances({ db, users: accounts.users, roster, backend, agentsDomain, version }));
  return agents;
}
