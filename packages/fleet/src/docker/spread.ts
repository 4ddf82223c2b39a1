import { PLAN_RESOURCES } from '@troupe/domain';
import type { AgentRow } from '@troupe/roster';
import type { Driver, Placement } from '../driver.ts';
import { createCalls, environmentOf, passingOn, type Calls, type Look } from '../outside.ts';
import { askIfThere, EngineAway } from './calls.ts';
import type { ContainerDeps } from './containers.ts';
import { figures } from './figures.ts';
import { serviceOf } from './service-spec.ts';
import { createServices, foundOf, runningOf, type Services } from './services.ts';
import { AGENT_LABEL, INNER_PORT, MOST_PROCESSES } from './spec.ts';
import type { Spread } from './spread-settings.ts';
import { createSpreadVolumes, DATA_DIR, spreadVolumeOf } from './spread-volume.ts';

const GIB = 1024 ** 3;
/** What is set aside for one; what it may take is its plan's. */
const RESERVED = { MemoryBytes: 128 * 1024 ** 2, NanoCPUs: 0.02e9 };
/** An image may have to be fetched first, and a node that was lost may have had the data until a moment ago. */
const HEALTH_MS = 180_000;

/**
 * One service an agent, on whichever node the swarm chooses, reached over an overlay network. Its data is a volume that
 * every node reaches; of programs that two nodes were told to run, the agent's own program lets one have it.
 */
export function createSpread(given: ContainerDeps, spread: Spread): Driver {
  const deps = { healthMs: HEALTH_MS, ...given };
  const { engine, image, log } = deps;
  const services = createServices(engine);
  const volumes = createSpreadVolumes({ engine, services, spread, image });

  const look: Look = async (agentId) => {
    const found = await services.find(serviceOf(agentId));
    return found && foundOf(found, spread.network);
  };
  const calls = createCalls(deps, look);

  /** A task has an address of its own, so nobody is led to where the agent was. Without managers its name leads there. */
  async function addressOf(agentId: string): Promise<string | undefined> {
    try {
      return (await look(agentId))?.address;
    } catch (error) {
      if (!(error instanceof EngineAway)) throw error;
      log.warn({ err: error, agentId }, 'the swarm does not tell where an agent is: its name is taken');
      return `http://${serviceOf(agentId)}:${INNER_PORT}`;
    }
  }

  return {
    ...passingOn(deps, calls, addressOf),
    name: 'swarm',
    image,
    start: createStart(deps, spread, services, calls),
    stop: ({ id }) => services.end(serviceOf(id)),
    async remove({ id }) {
      await services.end(serviceOf(id));
      await volumes.remove(id);
    },
    backup: ({ id }, file) => volumes.copy(id, file),
    async restore({ id }, file) {
      await services.end(serviceOf(id));
      await volumes.replace(id, file);
    },
    async stats(agent) {
      const found = await services.find(serviceOf(agent.id));
      const container = found && runningOf(found)?.Status.ContainerStatus?.ContainerID;
      // Engines of other nodes are not asked.
      const raw = container && (await askIfThere(engine.getContainer(container).stats({ stream: false })));
      return { ...figures(raw || undefined), work: await calls.work(agent) };
    },
    alive: () =>
      services.labelled(AGENT_LABEL).catch((err: unknown) => {
        log.warn({ err }, 'the swarm does not tell what runs');
        return undefined;
      }),
    close: async () => {},
  };
}

function createStart(deps: ContainerDeps, spread: Spread, services: Services, { healthy, catchUp }: Calls) {
  async function create(agent: AgentRow, image: string): Promise<void> {
    const { memoryGb, cpus } = PLAN_RESOURCES[agent.size ?? agent.plan] ?? PLAN_RESOURCES['solo']!;
    const place = { platform: deps.platformUrl(), dataDir: DATA_DIR, host: '0.0.0.0', port: INNER_PORT };
    const env = { ...(await environmentOf(deps, agent, place)), DATA_SHARED: 'on' };
    const fewest = await services.fewestCpus();
    await services.create({
      name: serviceOf(agent.id),
      labels: { [AGENT_LABEL]: agent.id },
      image,
      env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      containerLabels: { [AGENT_LABEL]: agent.id },
      data: spreadVolumeOf(agent.id, spread),
      limits: { MemoryBytes: memoryGb * GIB, NanoCPUs: Math.min(cpus * 1e9, fewest), Pids: MOST_PROCESSES },
      reserved: RESERVED,
      constraints: [],
      network: spread.network,
      // Addresses of services need a balancer in the kernel, and one agent needs none.
      endpoints: { Mode: 'dnsrr' },
    });
  }

  return async (agent: AgentRow): Promise<Placement> => {
    const name = serviceOf(agent.id);
    const wanted = agent.image ?? deps.image;
    const told = await services.find(name);
    if (told && told.image !== wanted) await services.end(name);
    if (told?.image === wanted) await services.start(name);
    else await create(agent, wanted);
    const version = await healthy(agent.id);
    await catchUp(agent);
    const found = await services.find(name);
    const task = found && runningOf(found);
    return {
      version,
      image: wanted,
      container: {
        id: task?.Status.ContainerStatus?.ContainerID ?? '',
        name: `${name}.1.${task?.ID ?? ''}`,
        status: 'running',
      },
    };
  };
}
