import { raiseNotice, type Accounts } from '@troupe/accounts';
import { createSandbox, type ProgramShelf, type Sandbox } from '@troupe/agent';
import type { ChannelHost } from '@troupe/channels';
import { applyConfigJob, stopAgentsJob, takeChangeJob, tryCaseJob } from '@troupe/contract';
import { keepSwept, openBlobs } from '@troupe/db';
import { createFleet, createTrials, type Driver, type Fleet } from '@troupe/fleet';
import {
  closeAll,
  createCipher,
  createOutbound,
  createWorkerPool,
  type Outbound,
  type Running,
  type Server,
} from '@troupe/kernel';
import { createUserServers, memberOf, type AgentRow, type Roster } from '@troupe/roster';
import type { BackendDeps } from '../deps.ts';
import type { AgentKeys } from './agent-keys.ts';
import { deliverPushes } from './a2a/delivery.ts';
import { createPushConfigs, pushCipher } from './a2a/service.ts';
import { agentRoutes } from './agents/routes.ts';
import { createAgentService, type AgentService } from './agents/service.ts';
import { aiRoutes, providerRoutes } from './ai/routes.ts';
import { createAiService, type AiService } from './ai/service.ts';
import { backupRoutes } from './backups/routes.ts';
import { createBackupService } from './backups/service.ts';
import { channelRoutes } from './channels/routes.ts';
import { createChannels } from './channels/service.ts';
import { deploymentRoutes } from './deployments/routes.ts';
import { createDeployments } from './deployments/service.ts';
import { createDriver, dashboardOf, type Running as RunningDriver } from './driver.ts';
import { createGate, isUntried } from './evaluations/gate.ts';
import { createEvaluations, type EvaluationsService } from './evaluations/service.ts';
import { createRuntimeProgram } from './installations/program.ts';
import { installationRoutes } from './installations/routes.ts';
import { createInstallations, type InstallationsService } from './installations/service.ts';
import { createKillSwitch } from './kill-switch.ts';
import { knowledgeRoutes } from './knowledge/routes.ts';
import { createMeanings, type Meanings } from './knowledge/meaning.ts';
import { createKnowledge } from './knowledge/service.ts';
import { lifecycleRoutes } from './lifecycle/routes.ts';
import { createLifecycle } from './lifecycle/service.ts';
import { createMemoryStores } from './managed/stores.ts';
import { wireManaged } from './managed/wire.ts';
import { createMemoryCare, type MemoryCare } from './memory/service.ts';
import { createLiveStreams } from './provision/livestream.ts';
import { createProgramsHere } from './programs.ts';
import { provisionRoutes } from './provision/routes.ts';
import { createProvision } from './provision/service.ts';
import { responseRoutes } from './responses/routes.ts';
import { createStoredResponses } from './responses/service.ts';
import { addressOf, run } from './run.ts';
import { createAccess } from './runtime/access.ts';
import { relayToAgents } from './runtime/relay.ts';
import { createResource } from './runtime/resource.ts';
import { runtimeRoutes } from './runtime/routes.ts';
import { createRuntime } from './runtime/service.ts';
import { createThinking } from './runtime/thinking.ts';
import { createWake, type Reach } from './runtime/wake.ts';
import { createFileWatch, type FileWatchDeps } from './scheduler/file-watch.ts';
import { sayRoutes } from './say/routes.ts';
import { createSay } from './say/service.ts';
import { createScheduler } from './scheduler/service.ts';
import { serverRoutes } from './servers/routes.ts';
import { createServers } from './servers/service.ts';
import { createSpendWatch } from './scheduler/spend-watch.ts';
import { skillRoutes } from './skills/routes.ts';
import { createSkillFiles } from './skills/service.ts';
import { teamRoutes } from './teams/routes.ts';
import { createTeams } from './teams/service.ts';
import { createSharedStores } from './teams/shared.ts';

interface AgentDeps extends BackendDeps {
  accounts: Accounts;
  roster: Roster;
  ownKey: AgentKeys['ownKey'];
}

/** Wires everything about running agents. Nothing starts before the server listens. */
export async function wireAgents(server: Server, deps: AgentDeps): Promise<Running & Pick<Reach, 'deliver'>> {
  const { db, log, clock, version, secrets, roster } = deps;
  const installations = wireInstallations(server, deps);
  const ai = createAiService({ ...deps, sealKey: secrets.walletKey, metrics: server.metrics });
  await ai.reload();
  providerRoutes(server, ai.catalogue);
  const responses = createStoredResponses({ db, clock });
  aiRoutes(server, { ...ai, clock, ownKey: deps.ownKey, responses });
  responseRoutes(server, responses);

  const outbound = createOutbound({ privateHosts: deps.settings.AGENT_PRIVATE_HOSTS });
  // What the operator has configured may be anywhere.
  const configured = createOutbound({ allowLoopback: true, allowPrivate: true });
  const baseUrl = (): string => addressOf(server) ?? deps.url;
  const blobs = await openBlobs(deps.settings, deps);
  const sandbox = createSandbox({ log });
  const meanings = createMeanings({ db, jobs: deps.jobs, ai: ai.ai, log });
  const stores = createMemoryStores(deps);
  const programs = createProgramsHere(deps);
  const places = { outbound, sandbox, programs: programs.shelf };
  const running = await createDriver(deps, ai, {
    ...places,
    meanings,
    stores: stores.source,
    configured,
    roster: roster.system,
    baseUrl,
    blobs,
    push: createPushConfigs({ db, clock, cipher: pushCipher(secrets.walletKey), plainAllowed: server.loopback }),
  });
  const { driver } = running;
  const fleet = createFleet({ db, roster: roster.system, driver, clock, log, version, blobs, dataDir: deps.dataDir });
  const liveStream = createLiveStreams({ settings: deps.settings, outbound: configured, log });
  const making = wireMaking(server, { ...deps, ai, fleet, liveStream, meanings });
  const trials = wireTrials(server, { ...deps, ...places, ai, fleet });
  wireServers(server, deps, outbound);
  wireChannels(server, deps, fleet, running.channels);
  const runtime = createRuntime({ roster, fleet, clock, version });
  wireRuntime(server, deps, running, runtime);
  workJobs(deps, fleet, driver);
  const wake = createWake({ roster, baseUrl, sessionSecret: secrets.sessionSecret, clock });
  const managed = wireManaged(server, { ...making, ...deps, reach: wake.reach, stores });
  const scheduler = createScheduler({
    db,
    log,
    wake: managed.waking(wake),
    listener: deps.listener,
    chores: [
      installations.tellQuiet,
      ...watching(deps, wake.find),
      responses.forgetOld,
      managed.forgetExpired,
      wireMemory(deps, ai, meanings).look,
    ],
  });
  const life = run(server, deps, { ...running, fleet, scheduler, outbound, configured });
  const kept = blobs ? [blobs, keepSwept(blobs, log)] : [];
  const pushes = tellOfTasks(server, deps);
  return { deliver: wake.deliver, close: () => closeAll([ai, ...kept, programs, trials, pushes, life]) };
}

/** MCP servers of users. */
function wireServers(server: Server, { db, roster, secrets }: AgentDeps, outbound: Outbound): void {
  const servers = createUserServers({ db, sealKey: secrets.walletKey });
  serverRoutes(server, createServers({ servers, roster, outbound }));
}

/** What money is spent, and what files arrive. */
const watching = ({ db, clock, log }: AgentDeps, find: FileWatchDeps['find']) => [
  createSpendWatch({ db, clock }),
  createFileWatch({ db, log, find }),
];

/** What is done with memories while nobody waits for it. */
const wireMemory = (deps: AgentDeps, ai: AiService, meanings: Meanings): MemoryCare =>
  createMemoryCare({
    ...deps,
    meanings,
    roster: deps.roster.system,
    thinking: createThinking(ai, deps.roster.system),
    isHere: deps.settings.AGENT_DRIVER === 'embedded',
  });

/** Who comes to an agent's gateway, and what they are told of it. */
function wireRuntime(
  server: Server,
  { db, clock, secrets }: AgentDeps,
  running: RunningDriver,
  runtime: ReturnType<typeof createRuntime>,
): void {
  const resource = createResource(server);
  runtimeRoutes(server, { ...running, runtime, resource });
  const verify = createAccess({ db, clock, ...secrets });
  const member = (token: string) => memberOf(secrets.sessionSecret, token)?.agentId;
  relayToAgents(server, { runtime, driver: running.driver, resource, verify, memberOf: member });
}

/** Push notifications of A2A. */
function tellOfTasks(server: Server, deps: AgentDeps): Running {
  // Where only people on this machine use the platform, their own servers may be told.
  const outbound = createOutbound({
    allowLoopback: server.loopback,
    privateHosts: deps.settings.AGENT_PRIVATE_HOSTS,
  });
  const pushes = deliverPushes({ ...deps, outbound, cipher: pushCipher(deps.secrets.walletKey) });
  return { close: () => closeAll([pushes, outbound]) };
}

function wireChannels(server: Server, { db, roster, url, settings }: AgentDeps, fleet: Fleet, host: ChannelHost): void {
  const isHere = settings.AGENT_DRIVER === 'embedded';
  server.metrics.gauge('channels_listening', 'Channels that this process listens at', host.listening);
  channelRoutes(server, createChannels({ db, roster, fleet, host, url, isHere }));
}

/** Agents that people run on their own machines. */
function wireInstallations(server: Server, { settings, db, clock, secrets }: BackendDeps): InstallationsService {
  const installations = createInstallations({
    db,
    clock,
    cipher: createCipher(secrets.walletKey, 'installations'),
    dashboardUrl: dashboardOf(settings),
    open: server.loopback,
  });
  installationRoutes(server, installations, createRuntimeProgram());
  return installations;
}

interface Making extends AgentDeps {
  ai: AiService;
  fleet: Fleet;
  liveStream: ReturnType<typeof createLiveStreams>;
  meanings: Meanings;
}

/** Agents and teams: made, changed, backed up and removed. */
function wireMaking(server: Server, { ai, fleet, liveStream, accounts, meanings, ...deps }: Making) {
  const { settings, db, roster, clock, version, log } = deps;
  const { premium: defaultModel } = ai.catalogue;
  const gate = createGate({ db, roster });
  const agents: AgentService = createAgentService({
    db,
    roster,
    fleet,
    clock,
    version,
    agentsDomain: settings.AGENTS_DOMAIN,
    defaultModel,
    gate,
  });
  const refuseWhenDisabled = createKillSwitch(settings.PROVISIONING_DISABLED);
  const making = { db, roster, agents, fleet, gate, refuseWhenDisabled };
  const pool = createWorkerPool();
  server.app.addHook('onClose', () => pool.close());
  agentRoutes(server, agents);
  lifecycleRoutes(server, createLifecycle({ fleet, roster, version, audit: accounts.audit }));
  backupRoutes(server, createBackupService({ fleet, roster, gate }));
  deploymentRoutes(server, createDeployments({ ...making, log, version, defaultModel }));
  teamRoutes(server, createTeams({ ...making, clock, pool }), createSharedStores({ db, roster, meanings }));
  const skillFiles = createSkillFiles({ db, roster });
  skillRoutes(server, skillFiles);
  knowledgeRoutes(server, createKnowledge({ db, roster, dashboard: dashboardOf(settings), meanings }));
  provisionRoutes(server, createProvision({ ...making, settings, catalogue: ai.catalogue, liveStream }));
  return { ...making, gate, clock, pool, skillFiles };
}

/** Cases of one process, and of one user in all of them, that are tried at once. */
const TRIED = { concurrency: 4, perOwner: 2 };

interface Evaluating extends AgentDeps {
  ai: AiService;
  fleet: Fleet;
  outbound: Outbound;
  sandbox: Sandbox;
  programs: ProgramShelf | undefined;
}

/** Cases that agents are tried with, and agents that are not there yet: in this process, whatever runs the agents. */
function wireTrials(server: Server, { ai, fleet, outbound, sandbox, programs, ...deps }: Evaluating): Running {
  const { db, jobs, log, clock, roster, settings, secrets, dataDir } = deps;
  const thinking = createThinking(ai, roster.system);
  const trials = createTrials({
    db,
    log,
    dataDir,
    sandbox,
    outbound,
    egress: { rules: { privateHosts: settings.AGENT_PRIVATE_HOSTS } },
    sealKey: secrets.walletKey,
    ...(programs && { programs }),
    dashboard: dashboardOf(settings),
    thinking,
  });
  const pool = createWorkerPool();
  server.app.addHook('onClose', () => pool.close());
  const parts = { db, jobs, roster, trials, thinking, fleet, pool, clock, log };
  const evaluations: EvaluationsService = createEvaluations(parts);
  jobs.work(tryCaseJob, (given, { signal }) => evaluations.tryCase(given, signal), TRIED);
  jobs.work(takeChangeJob, (given) => evaluations.takeChange(given), { perOwner: 1 });
  sayRoutes(server, createSay({ roster, trials, thinking }));
  return trials;
}

function workJobs({ db, jobs, roster, clock }: AgentDeps, fleet: Fleet, driver: Driver): void {
  const gate = createGate({ db, roster });
  /** One whose cases have not passed with the owner's new defaults stays as it is, and its owner is told. */
  const isHeld = async (agent: AgentRow): Promise<boolean> => {
    try {
      await gate.check(agent, { config: {}, purpose: {} });
      return false;
    } catch (error) {
      if (!isUntried(error)) throw error;
      const { id, name, user_id: userId } = agent;
      const message = `${name} does not have your new defaults: its cases have not passed with them.`;
      const link = `/dashboard/agents/${id}?tab=evaluations`;
      await db.asSystem((tx) =>
        raiseNotice(tx, { userId, kind: 'defaults_not_taken', subject: id, message, link }, clock()),
      );
      return true;
    }
  };
  const applyConfig = async (owner: string): Promise<void> => {
    for (const agent of await roster.of(owner).list()) {
      if (await isHeld(agent)) continue;
      const { agent: changed, definition } = await roster.system.configure(agent, {});
      if (changed.status === 'running') await driver.configure(changed, definition);
    }
  };
  jobs.work(applyConfigJob, ({ owner }) => applyConfig(owner), { perOwner: 1 });
  jobs.work(stopAgentsJob, async ({ agentIds }) => {
    for (const agentId of agentIds) await fleet.settle(agentId);
  });
}
