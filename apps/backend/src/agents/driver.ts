import { browserOff, type ProgramShelf, type Sandbox } from '@troupe/agent';
import { createChannelHost, type ChannelHost } from '@troupe/channels';
import {
  createDocker,
  createEmbedded,
  createHosting,
  createKubernetes,
  createSwarm,
  dockerEngine,
  kubernetesCluster,
  spreadOf,
  withHosting,
  type Driver,
  type OutsideDeps,
} from '@troupe/fleet';
import { workLeft } from '@troupe/contract';
import { notify, type Blobs } from '@troupe/db';
import type { Outbound } from '@troupe/kernel';
import { createHostingPlatform, type AllAgents } from '@troupe/roster';
import type { BackendDeps } from '../deps.ts';
import type { PushService } from './a2a/service.ts';
import type { AiService } from './ai/service.ts';
import { createRuntimeProgram } from './installations/program.ts';
import { createAccess } from './runtime/access.ts';
import type { Meanings } from './knowledge/meaning.ts';
import type { MemoryStores } from './managed/stores.ts';
import { createThinking } from './runtime/thinking.ts';

/** What runs the agents, as AGENT_DRIVER says. */
export interface Running {
  driver: Driver;
  /** Why commands cannot run here; undefined: they can, as far as this process knows. */
  shellOff: () => Promise<string | undefined>;
  /** Why there is no browser here. */
  browserOff: () => Promise<string | undefined>;
  /** Another process has stopped or changed the agent. */
  evict: (agentId: string) => Promise<void>;
  /** Containers listen to their channels themselves. */
  channels: ChannelHost;
}

interface Given {
  outbound: Outbound;
  /** For addresses that the operator has configured. */
  configured: Outbound;
  roster: AllAgents;
  /** Where this process is reached. */
  baseUrl: () => string;
  /** Where files are kept; undefined: in the folder. */
  blobs: Blobs | undefined;
  /** Where commands run that are not in a container of their own. */
  sandbox: Sandbox;
  /** Where programs of MCP servers are; undefined: nowhere. */
  programs: ProgramShelf | undefined;
  /** Who is told of tasks of A2A. */
  push: PushService;
  /** How questions become numbers. */
  meanings: Meanings;
  /** Memory stores of sessions. */
  stores: MemoryStores['source'];
}

/** Where people look at what agents say. */
export const dashboardOf = ({ BASE_URL, WEB_PORT }: BackendDeps['settings']): string =>
  `${BASE_URL ?? `http://127.0.0.1:${WEB_PORT}`}/dashboard`;

const nothing = async (): Promise<void> => {};
const nobody = async (): Promise<undefined> => undefined;
/** What containers can do, they know. */
const ELSEWHERE = { shellOff: nobody, browserOff: nobody, evict: nothing };

export async function createDriver(deps: BackendDeps, ai: AiService, given: Given): Promise<Running> {
  const running = await createMain(deps, ai, given);
  const { settings, log, version, db, clock, secrets, url: platformUrl } = deps;
  const { roster } = given;
  const { sessionSecret } = secrets;
  const verify = createAccess({ db, clock, ...secrets });
  const common = { roster, outbound: given.configured, log, version, sessionSecret };
  const platform = createHostingPlatform({ ...common, settings, platformUrl });
  if (!platform) return running;
  const driver = withHosting(running.driver, createHosting({ ...common, platform, verify }), roster);
  return { ...running, driver };
}

async function createMain(deps: BackendDeps, ai: AiService, given: Given): Promise<Running> {
  const { settings, db, listener, log, version, dataDir, secrets, clock, url } = deps;
  const { internalKey, sessionSecret, walletKey } = secrets;
  const { outbound, roster, baseUrl, blobs, sandbox, push } = given;
  const verify = createAccess({ db, clock, internalKey, sessionSecret });
  const common = { log, version, verify };
  if (settings.AGENT_DRIVER !== 'embedded') {
    const trying = createChannelHost({ db, sealKey: walletKey, agent: nobody, outbound, log, publicUrl: url });
    const driver = await inContainers(deps, { ...common, roster, sessionSecret }, baseUrl);
    return { driver, ...ELSEWHERE, channels: { ...trying, refresh: nothing } };
  }
  const driver = createEmbedded({
    ...common,
    db,
    listener,
    dataDir,
    blobs,
    outbound,
    sandbox,
    sealKey: walletKey,
    ...(given.programs && { programs: given.programs }),
    egress: { rules: { privateHosts: settings.AGENT_PRIVATE_HOSTS } },
    thinking: createThinking(ai, roster),
    meaning: given.meanings.of,
    stores: given.stores,
    dashboard: dashboardOf(settings),
    publicUrl: (agentId) => `${url}/api/runtime/proxy/${agentId}`,
    webhook: (...args) => channels.webhook(...args),
    push,
  });
  await driver.adopt();
  const channels = createChannelHost({
    db,
    sealKey: walletKey,
    agent: driver.agent,
    outbound,
    log,
    publicUrl: url,
    left: () => notify(db.system, workLeft, ''),
  });
  return {
    driver: { ...driver, hush: channels.hush },
    shellOff: sandbox.unavailable,
    browserOff: () => browserOff({ sandbox }),
    evict: driver.evict,
    channels,
  };
}

async function inContainers(
  { settings, version }: BackendDeps,
  common: OutsideDeps,
  baseUrl: () => string,
): Promise<Driver> {
  const told = {
    ...common,
    // Named after the release, so that an update of the platform brings agents a new program.
    image: settings.AGENT_IMAGE ?? `troupe-agent:${version}`,
    privateHosts: settings.AGENT_PRIVATE_HOSTS,
  };
  if (settings.AGENT_DRIVER === 'kubernetes')
    return createKubernetes({
      ...told,
      cluster: await kubernetesCluster(settings),
      storageClass: settings.KUBERNETES_STORAGE_CLASS,
      // A pod's own address is another one tomorrow.
      platformUrl: () => settings.BACKEND_URL ?? baseUrl(),
    });
  const program = createRuntimeProgram();
  const container = {
    ...told,
    engine: await dockerEngine(settings.DOCKER_HOST),
    program: async () => (await program()).toString('utf8'),
    node: process.execPath,
    hostNetwork: settings.AGENT_HOST_NETWORK,
  };
  if (settings.AGENT_DRIVER === 'docker') return createDocker({ ...container, platformUrl: baseUrl });
  const spread = spreadOf(settings);
  // On another node the address of this process leads nowhere, or elsewhere.
  const platformUrl = () => (spread ? (settings.BACKEND_URL ?? baseUrl()) : baseUrl());
  return createSwarm({ ...container, spread, platformUrl });
}
