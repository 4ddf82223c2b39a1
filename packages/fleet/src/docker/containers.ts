import type Docker from 'dockerode';
import type { Driver, DriverStats, Placement } from '../driver.ts';
import { createCalls, passingOn, type Calls, type Look, type OutsideDeps } from '../outside.ts';
import type { AgentRow } from '@troupe/roster';
import { askIfThere } from './calls.ts';
import { figures } from './figures.ts';
import { createEnsureImage, type ImageDeps } from './ensure-image.ts';
import { AGENT_LABEL, specFor, type ContainerSpec, type SpecDeps } from './spec.ts';
import { createVolumes } from './volume.ts';

/** Agents in containers of a Docker engine. Their data is a volume; their only secrets are their own tokens. */
export interface ContainerDeps extends SpecDeps, ImageDeps, OutsideDeps {}

/** How the engine is told to run a container, and to end it. */
export interface Way {
  name: string;
  /** Undefined: the engine was not told to run this agent. */
  look: (agentId: string) => Promise<Told | undefined>;
  create: (agentId: string, spec: ContainerSpec) => Promise<void>;
  /** Makes what was created run. */
  start: (agentId: string) => Promise<void>;
  /** Ends it and forgets it; the volume stays. With `inTime` it may hand its work back before. */
  end: (agentId: string, inTime: boolean) => Promise<void>;
  /** Where a running one is reached. */
  address: (container: Docker.ContainerInspectInfo) => string | undefined;
}

interface Told {
  image: string;
  /** How often the engine has started it again by itself. */
  restarts: number;
  /** Undefined: none at this moment. */
  container: Docker.ContainerInspectInfo | undefined;
}

type ContainerOf = (agentId: string) => Promise<Docker.ContainerInspectInfo | undefined>;

async function stats(
  { engine }: ContainerDeps,
  containerOf: ContainerOf,
  { work }: Calls,
  agent: AgentRow,
): Promise<DriverStats> {
  const found = await containerOf(agent.id);
  const raw = found && (await askIfThere(engine.getContainer(found.Id).stats({ stream: false })));
  return { ...figures(raw), work: await work(agent) };
}

/** The agents that the engine runs; undefined: it does not say. */
async function alive({ engine, log }: ContainerDeps): Promise<Set<string> | undefined> {
  const filters = { label: [AGENT_LABEL] };
  const found = await engine.listContainers({ all: true, filters }).catch((err: unknown) => {
    log.warn({ err }, 'the container engine does not tell what runs');
    return undefined;
  });
  // Held still for a copy counts as running.
  const up = found?.filter(({ State }) => State === 'running' || State === 'paused');
  return up && new Set(up.map(({ Labels }) => Labels[AGENT_LABEL]!));
}

function createStart(
  deps: ContainerDeps,
  way: Way,
  ensureImage: ReturnType<typeof createEnsureImage>,
  containerOf: ContainerOf,
  { healthy, catchUp }: Calls,
) {
  const { engine, image } = deps;
  async function start(agent: AgentRow): Promise<Placement> {
    const wanted = agent.image ?? image;
    await ensureImage(wanted);
    const told = await way.look(agent.id);
    if (told && told.image !== wanted) await way.end(agent.id, false);
    if (told?.image !== wanted) await way.create(agent.id, await specFor(deps, agent));
    // A copy that was cut short left it held.
    if (told?.container?.State.Paused) await askIfThere(engine.getContainer(told.container.Id).unpause());
    await way.start(agent.id);
    const version = await healthy(agent.id);
    await catchUp(agent);
    const { Id, Name, State } = (await containerOf(agent.id))!;
    return { version, image: wanted, container: { id: Id, name: Name.replace(/^\//, ''), status: State.Status } };
  }

  return start;
}

export function createContainers(deps: ContainerDeps, way: Way): Driver {
  const { engine, image } = deps;
  const ensureImage = createEnsureImage(deps);
  const volumes = createVolumes(engine);
  const containerOf: ContainerOf = async (agentId) => (await way.look(agentId))?.container;

  const look: Look = async (agentId) => {
    const told = await way.look(agentId);
    if (!told) return undefined;
    const { restarts, container } = told;
    return { restarts, address: container?.State.Running ? way.address(container) : undefined };
  };
  const calls = createCalls(deps, look);

  return {
    ...passingOn(deps, calls, async (agentId) => (await look(agentId))?.address),
    name: way.name,
    image,
    start: createStart(deps, way, ensureImage, containerOf, calls),
    stats: (agent) => stats(deps, containerOf, calls, agent),
    backup: ({ id }, file) => volumes.copy(id, file),
    // What ran goes, the volume stays: the next start may be of another image.
    stop: ({ id }) => way.end(id, true),
    async remove({ id }) {
      await way.end(id, false);
      await volumes.remove(id);
    },
    async restore({ id }, file) {
      await way.end(id, false);
      await volumes.replace(id, file);
    },
    alive: () => alive(deps),
    close: async () => {},
  };
}
