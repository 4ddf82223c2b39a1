import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type Docker from 'dockerode';
import type { RunStats, Verify } from '@troupe/agent';
import type { AgentDefinition } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import { boundedJson } from '../bounded.ts';
import { DriverError, type Driver, type DriverStats, type Placement } from '../driver.ts';
import { createProxy, ownCredentials } from '../proxy.ts';
import type { AgentRow } from '@troupe/roster';
import { askIfThere } from './calls.ts';
import { figures } from './figures.ts';
import { createEnsureImage, type ImageDeps } from './ensure-image.ts';
import { AGENT_LABEL, specFor, type ContainerSpec, type SpecDeps } from './spec.ts';
import { createVolumes } from './volume.ts';

/** Agents in containers of a Docker engine. Their data is a volume; their only secrets are their own tokens. */
export interface ContainerDeps extends SpecDeps, ImageDeps {
  version: string;
  verify: Verify;
  healthMs?: number;
}

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

/** A machine that starts many at once takes its time; one that ends again and again is noticed by its restarts. */
const HEALTH_MS = 90_000;
const MOST_RESTARTS = 2;

/** Asks agents in containers. */
function createCalls(deps: ContainerDeps, way: Way) {
  const { roster, healthMs = HEALTH_MS } = deps;
  const containerOf = async (agentId: string) => (await way.look(agentId))?.container;

  async function addressOf(agentId: string): Promise<string | undefined> {
    const container = await containerOf(agentId);
    return container?.State.Running ? way.address(container) : undefined;
  }

  async function call(agentId: string, method: string, at: string, body?: unknown, token?: string): Promise<Response> {
    const address = await addressOf(agentId);
    if (address === undefined) throw new AppError(502, 'Agent is not running');
    return fetch(address + at, {
      method,
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
      // What is asked of an agent is asked of nobody else in its place.
      redirect: 'error',
    });
  }

  async function asOwner(agent: AgentRow, method: string, at: string, body?: unknown): Promise<Response> {
    const response = await call(agent.id, method, at, body, await roster.token(agent));
    if (!response.ok) throw new DriverError(`The agent answered ${response.status} on ${at}`);
    return response;
  }

  /** Answers the version that serves; throws when it does not within the time. */
  async function healthy(agentId: string): Promise<string> {
    const deadline = Date.now() + healthMs;
    const before = (await way.look(agentId))?.restarts ?? 0;
    for (;;) {
      const answer = await call(agentId, 'GET', '/health').catch(() => undefined);
      if (answer?.ok) return ((await boundedJson(answer)) as { version?: string }).version ?? deps.version;
      const told = await way.look(agentId);
      if (told && told.restarts - before > MOST_RESTARTS)
        throw new DriverError('The agent’s container ends as soon as it starts');
      if (Date.now() > deadline) throw new DriverError('The agent did not become healthy in time');
      await delay(200);
    }
  }

  /** What was changed while it did not run: of its environment it reads the definition at its very first start only. */
  async function catchUp(agent: AgentRow): Promise<void> {
    const wanted = await roster.definition(agent);
    const { definition } = (await boundedJson(await asOwner(agent, 'GET', '/definition'))) as {
      definition: AgentDefinition;
    };
    if (!isDeepStrictEqual(definition, wanted)) await asOwner(agent, 'PUT', '/definition', wanted);
  }

  return { containerOf, addressOf, asOwner, healthy, catchUp };
}
type Calls = ReturnType<typeof createCalls>;

async function stats(
  { engine }: ContainerDeps,
  { containerOf, asOwner }: Calls,
  agent: AgentRow,
): Promise<DriverStats> {
  const found = await containerOf(agent.id);
  const raw = found && (await askIfThere(engine.getContainer(found.Id).stats({ stream: false })));
  const work = await asOwner(agent, 'GET', '/stats')
    .then(async (response) => ((await boundedJson(response)) as { stats: RunStats }).stats)
    .catch(() => null);
  return { ...figures(raw), work };
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
  { containerOf, healthy, catchUp }: Calls,
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
  const { engine, roster, log, image } = deps;
  const ensureImage = createEnsureImage(deps);
  const volumes = createVolumes(engine);

  const calls = createCalls(deps, way);
  const { addressOf, asOwner } = calls;
  const proxy = createProxy({
    log,
    where: async (agentId) => {
      const address = await addressOf(agentId);
      return address === undefined ? undefined : new URL(address);
    },
    exists: async (agentId) => (await roster.find(agentId)) !== undefined,
    verify: deps.verify,
    credentials: ownCredentials(deps),
  });

  const start = createStart(deps, way, ensureImage, calls);

  return {
    name: way.name,
    image,
    holdsToken: true,
    start,
    stats: (agent) => stats(deps, calls, agent),
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
    reset: async (agent) => void (await asOwner(agent, 'POST', '/reset', {})),
    configure: async (agent, definition) => void (await asOwner(agent, 'PUT', '/definition', definition)),
    alive: () => alive(deps),
    handle: proxy.handle,
    upgrade: proxy.upgrade,
    cut: proxy.cut,
    // Each container goes on with its own unfinished work when it starts.
    recover: async () => 0,
    disconnect: proxy.disconnect,
    close: async () => {},
  };
}
