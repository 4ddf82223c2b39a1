import { createServer, type AddressInfo } from 'node:net';
import type Docker from 'dockerode';
import { PLAN_RESOURCES } from '@troupe/domain';
import type { AgentRow } from '@troupe/roster';
import { DriverError } from '../driver.ts';
import { environmentOf, type EnvDeps } from '../outside.ts';
import { ask } from './calls.ts';
import { DATA } from './image.ts';

/** What an agent's container is to be, however the engine is told to run it. */
export interface ContainerSpec {
  image: string;
  env: string[];
  labels: Record<string, string>;
  /** With a bridge each agent has a network of its own; without one, where that is allowed, it has this machine's. */
  network: { kind: 'host' } | { kind: 'bridge'; gateway: string };
  /** Where it listens, and the port of this machine that leads there. */
  innerPort: number;
  port: number;
  memoryBytes: number;
  nanoCpus: number;
}

export interface SpecDeps extends EnvDeps {
  engine: Docker;
  image: string;
  /** Where agents find the platform; undefined: nowhere, they have only the built-in model. */
  platformUrl: () => string | undefined;
  /** Whether agents may have this machine's network: they then reach all that listens on its loopback. */
  hostNetwork: boolean;
}

export const AGENT_LABEL = 'troupe.agent';
export const PORT_LABEL = 'troupe.port';
export const MOST_PROCESSES = 256;
export const TMP_BYTES = 256 * 1024 ** 2;
/** The time that an agent has to hand its work back. */
export const STOP_SECONDS = 8;
/** The name of this machine in a container that has a network of its own. */
export const PLATFORM_HOST = 'host.docker.internal';
export const INNER_PORT = 18_789;
const GIB = 1024 ** 3;

export const nameOf = (agentId: string): string => `troupe-agent-${agentId}`;

export async function specFor(deps: SpecDeps, agent: AgentRow): Promise<ContainerSpec> {
  const { engine, image } = deps;
  const network = await networkOf(deps);
  const port = await freePort();
  const innerPort = network.kind === 'host' ? port : INNER_PORT;
  const { memoryGb, cpus } = PLAN_RESOURCES[agent.size ?? agent.plan] ?? PLAN_RESOURCES['solo']!;
  const { NCPU } = (await ask(engine.info())) as { NCPU: number };
  const env = await environmentOf(deps, agent, {
    platform: platformFor(deps.platformUrl(), network.kind),
    dataDir: DATA,
    host: network.kind === 'host' ? '127.0.0.1' : '0.0.0.0',
    port: innerPort,
  });
  return {
    image: agent.image ?? image,
    env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    labels: { [AGENT_LABEL]: agent.id, [PORT_LABEL]: String(port) },
    network,
    innerPort,
    port,
    memoryBytes: memoryGb * GIB,
    nanoCpus: Math.min(cpus, NCPU) * 1e9,
  };
}

async function networkOf({ engine, hostNetwork }: SpecDeps): Promise<ContainerSpec['network']> {
  const found = await ask(engine.listNetworks({ filters: { name: ['bridge'] } }));
  const bridge = found.find(({ Name }) => Name === 'bridge');
  if (bridge) return { kind: 'bridge', gateway: bridge.IPAM?.Config?.[0]?.Gateway ?? '' };
  if (hostNetwork) return { kind: 'host' };
  throw new DriverError(
    'The container engine has no bridge, and on this machine’s own network an agent would reach everything that listens here: give the engine a bridge, or set AGENT_HOST_NETWORK=true',
  );
}

/** This machine's loopback is not the container's, unless they share a network. */
function platformFor(url: string | undefined, kind: 'bridge' | 'host'): string | undefined {
  if (url === undefined) return undefined;
  const platform = new URL(url);
  if (kind === 'bridge' && ['127.0.0.1', 'localhost'].includes(platform.hostname)) platform.hostname = PLATFORM_HOST;
  return platform.origin;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port: 0, host: '127.0.0.1', exclusive: true }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
