import type { AddressInfo } from 'node:net';
import type { Audit } from '@troupe/accounts';
import { agentChanged, agentRethinks, applyConfigJob, credentialEnded, stopAgentsJob } from '@troupe/contract';
import { createFleet, type Fleet } from '@troupe/fleet';
import { closeAll, createOutbound, createWorkerPool, type Outbound, type Running, type Server } from '@troupe/kernel';
import { memberOf, type Roster } from '@troupe/roster';
import type { BackendDeps } from './deps.ts';
import { createDriver, type Running as RunningDriver } from './driver.ts';
import { backupRoutes } from './features/backups/routes.ts';
import { agentRoutes } from './features/agents/routes.ts';
import { createAgentService } from './features/agents/service.ts';
import type { AiService } from './features/ai/service.ts';
import { deploymentRoutes } from './features/deployments/routes.ts';
import { createDeployments } from './features/deployments/service.ts';
import { lifecycleRoutes } from './features/lifecycle/routes.ts';
import { createLiveStreams } from './features/provision/livestream.ts';
import { provisionRoutes } from './features/provision/routes.ts';
import { createProvision } from './features/provision/service.ts';
import { runtimeRoutes } from './features/runtime/routes.ts';
import { createRuntime } from './features/runtime/service.ts';
import { createWake, type Reach } from './features/runtime/wake.ts';
import { createScheduler } from './features/scheduler/service.ts';
import { teamStoreRoutes } from './features/team-store/routes.ts';
import { teamRoutes } from './features/teams/routes.ts';
import { createTeams } from './features/teams/service.ts';

const RECOVER_MS = 10_000;

/** Everything about running agents. Nothing starts before the server listens. */
export async function addAgents(
  server: Server,
  deps: BackendDeps,
  { ai, roster, audit }: { ai: AiService; roster: Roster; audit: Audit },
  chores: readonly (() => Promise<unknown>)[],
): Promise<Running & Pick<Reach, 'deliver'>> {
  const { settings, db, log, clock, version, secrets, jobs } = deps;
  const outbound = createOutbound({ privateHosts: settings.AGENT_PRIVATE_HOSTS });
  // What the operator has configured may be anywhere.
  const configured = createOutbound({ allowLoopback: true, allowPrivate: true });
  const baseUrl = (): string => addressOf(server) ?? deps.url;
  const { driver, shellOff, evict, channels } = await createDriver(deps, ai, {
    outbound,
    configured,
    roster: roster.system,
    baseUrl,
  });
  const fleet = createFleet({ db, roster: roster.system, driver, clock, log, version, dataDir: deps.dataDir });

  const agents = createAgentService({
    db,
    roster,
    fleet,
    clock,
    version,
    agentsDomain: settings.AGENTS_DOMAIN,
    defaultModel: ai.catalogue.premium,
  });
  const deployments = createDeployments({
    log,
    agents,
    roster,
    fleet,
    version,
    defaultModel: ai.catalogue.premium,
    disabled: settings.PROVISIONING_DISABLED,
  });
  const liveStream = createLiveStreams({ settings, outbound: configured, log });
  agentRoutes(server, agents);
  lifecycleRoutes(server, { fleet, roster, version, audit });
  backupRoutes(server, { fleet, roster });
  const pool = createWorkerPool();
  server.app.addHook('onClose', () => pool.close());
  deploymentRoutes(server, deployments, createTeams({ db, agents, deployments, fleet, clock, pool }));
  teamRoutes(server);
  teamStoreRoutes(server, { db, roster });
  provisionRoutes(
    server,
    createProvision({ db, roster, agents, deployments, fleet, settings, catalogue: ai.catalogue, liveStream }),
  );
  runtimeRoutes(server, {
    runtime: createRuntime({ roster, fleet, clock, version }),
    driver,
    shellOff,
    memberOf: (token) => memberOf(secrets.sessionSecret, token),
  });

  const applyConfig = async (owner: string): Promise<void> => {
    for (const agent of await roster.of(owner).list()) {
      const { agent: changed, definition } = await roster.system.configure(agent, {});
      if (changed.status === 'running') await driver.configure(changed, definition);
    }
  };
  jobs.work(applyConfigJob, ({ owner }) => applyConfig(owner), { perOwner: 1 });
  jobs.work(stopAgentsJob, async ({ agentIds }) => {
    for (const agentId of agentIds) await fleet.settle(agentId);
  });

  const wake = createWake({ roster, baseUrl, sessionSecret: secrets.sessionSecret, clock });
  const scheduler = createScheduler({ db, log, wake, chores });
  return {
    ...run(server, deps, { fleet, driver, evict, channels, scheduler, outbound, configured }),
    deliver: wake.deliver,
  };
}

/** Where this process itself is reached: it may listen on any free port. */
function addressOf({ app }: Server): string | undefined {
  const address = app.server.address() as AddressInfo | null;
  if (address === null) return undefined;
  const everywhere = address.address === '0.0.0.0' || address.address === '::';
  const host = address.address.includes(':') ? `[${address.address}]` : address.address;
  return `http://${everywhere ? '127.0.0.1' : host}:${address.port}`;
}

interface Parts extends Omit<RunningDriver, 'shellOff'> {
  fleet: Fleet;
  scheduler: ReturnType<typeof createScheduler>;
  outbound: Outbound;
  configured: Outbound;
}

/** Begins when the server listens, ends when it closes. */
function run(
  server: Server,
  { listener, log }: BackendDeps,
  { fleet, driver, evict, channels, scheduler, outbound, configured }: Parts,
): Running {
  let timer: NodeJS.Timeout | undefined;
  const stopListening = [
    listener.on(credentialEnded, (principalId) => driver.cut(principalId)),
    listener.on(agentChanged, (notice) => {
      const agentId = fleet.heard(notice);
      if (agentId === undefined) return;
      evict(agentId).catch((err: unknown) => log.warn({ err, agentId }, 'an agent did not go to sleep'));
    }),
    listener.on(agentRethinks, (notice) => {
      const agentId = fleet.heard(notice);
      if (agentId === undefined) return;
      driver
        .rethink?.(agentId)
        .catch((err: unknown) => log.warn({ err, agentId }, 'an agent did not take over its plan or provider'));
    }),
  ];
  async function recover(): Promise<void> {
    await fleet.recover().catch((err: unknown) => log.error({ err }, 'unfinished work could not be taken up'));
    await channels.refresh().catch((err: unknown) => log.error({ err }, 'channels could not be looked up'));
    if (!server.closing.aborted) timer = setTimeout(() => void recover(), RECOVER_MS).unref();
  }
  server.app.addHook('onListen', async () => {
    scheduler.start();
    void recover();
  });
  // A task that became due now would find nobody to ask.
  server.draining.addEventListener('abort', () => scheduler.rest());
  server.app.addHook('preClose', () => driver.disconnect());
  return {
    async close() {
      clearTimeout(timer);
      for (const stop of stopListening) stop();
      await closeAll([outbound, configured, driver, channels, scheduler]);
    },
  };
}
