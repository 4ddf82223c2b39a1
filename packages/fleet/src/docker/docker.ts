import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { AgentDefinition, GatewayPrincipal, RunStats } from '@troupe/agent';
import { PLAN_RESOURCES } from '@troupe/domain';
import { AppError, type Log } from '@troupe/kernel';
import { pack } from '../backup.ts';
import { DriverError, type Driver, type DriverStats, type Placement } from '../driver.ts';
import { channelUsers } from '../hosting.ts';
import { memberToken } from '../member-tokens.ts';
import type { AgentRow, Registry } from '../registry.ts';
import { agentImage, AGENT_UID, DATA, NODE, PROGRAM } from './image.ts';
import { createProxy } from './proxy.ts';

/** One container an agent. Its data is a volume that outlives the container; its only secrets are its own tokens. */
export interface DockerDeps {
  engine: Docker;
  registry: Registry;
  log: Log;
  version: string;
  /** Made here from this machine's Node and the agent program when the engine does not have it. */
  image: string;
  program: () => Promise<string>;
  node: string;
  /** Where agents find the platform; undefined: nowhere, they have only the built-in model. */
  platformUrl: () => string | undefined;
  sessionSecret: string;
  verify: (agentId: string, token: string) => Promise<GatewayPrincipal | undefined>;
  healthMs?: number;
}

const HEALTH_MS = 30_000;
const AGENT_LABEL = 'troupe.agent';
const PORT_LABEL = 'troupe.port';
/** What a call fails with when nobody is there. */
const AWAY = new Set(['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND']);
const GIB = 1024 ** 3;
const MOST_PROCESSES = 256;

const nameOf = (agentId: string): string => `troupe-agent-${agentId}`;
const doorOf = (agentId: string): string => `${nameOf(agentId)}-data`;
const volumeOf = (agentId: string) => ({ Type: 'volume' as const, Source: nameOf(agentId), Target: DATA });
const statusOf = (error: unknown): number | undefined => (error as { statusCode?: number }).statusCode;

export function createDocker(deps: DockerDeps): Driver {
  const { engine, registry, log, image, verify, healthMs = HEALTH_MS } = deps;

  /** What the engine says, as a sentence. */
  async function ask<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof AppError) throw error;
      if (AWAY.has((error as { code?: string }).code ?? ''))
        throw new DriverError('The container engine is not available', error);
      const { reason, message } = error as { reason?: string; message: string };
      throw new DriverError(`The container engine refused: ${reason ?? message}`, error);
    }
  }
  const unlessGone = <T>(work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      if (statusOf(error) === 404 || statusOf(error) === 304 || statusOf(error) === 409) return undefined;
      throw error;
    });

  const inspect = (agentId: string) => ask(unlessGone(engine.getContainer(nameOf(agentId)).inspect()));

  let building: Promise<void> | undefined;
  async function ensureImage(wanted: string): Promise<void> {
    if (await ask(unlessGone(engine.getImage(wanted).inspect()))) return;
    if (wanted !== image) throw new DriverError(`There is no image ${wanted} on the container engine`);
    building ??= build().finally(() => (building = undefined));
    await building;
  }

  async function build(): Promise<void> {
    const [repo, tag = 'latest'] = image.split(':');
    const archive = await agentImage(await deps.program(), deps.node);
    const output = (await ask(engine.importImage(archive, { repo, tag }) as Promise<unknown>)) as NodeJS.ReadableStream;
    for await (const piece of output) log.debug({ output: String(piece) }, 'agent image');
  }

  /** With a bridge each agent has a network of its own; without one it listens on this machine's loopback. */
  async function network(): Promise<'bridge' | 'host'> {
    const found = await ask(engine.listNetworks({ filters: { name: ['bridge'] } }));
    return found.some(({ Name }) => Name === 'bridge') ? 'bridge' : 'host';
  }

  async function create(agent: AgentRow): Promise<void> {
    const kind = await network();
    const port = await freePort();
    const inner = kind === 'host' ? port : 18_789;
    const token = await registry.token(agent);
    const { memoryGb, cpus } = PLAN_RESOURCES[agent.size ?? agent.plan] ?? PLAN_RESOURCES['solo']!;
    const { NCPU } = (await ask(engine.info())) as { NCPU: number };
    const platform = platformFor(deps.platformUrl(), kind);
    const { channelA, channelB, channelC } = await registry.channelTokens(agent);
    const env = {
      AGENT_ID: agent.id,
      GATEWAY_TOKEN: token,
      MEMBER_TOKEN: memberToken(deps.sessionSecret, agent.id),
      ...(agent.team_id && { TEAM_ID: agent.team_id }),
      ...(platform && { PLATFORM_URL: platform, PLATFORM_KEY: `sk_${token}` }),
      DATA_DIR: DATA,
      HOST: kind === 'host' ? '127.0.0.1' : '0.0.0.0',
      PORT: String(inner),
      HEARTBEAT: 'off',
      AGENT_DEFINITION: JSON.stringify(await registry.definition(agent)),
      ...(channelA && { TELEGRAM_TOKEN: channelA }),
      ...(channelB && { WHATSAPP_TOKEN: channelB }),
      ...(channelC && { DISCORD_TOKEN: channelC }),
      ...channelUsers(agent),
    };
    await ask(
      engine.createContainer({
        name: nameOf(agent.id),
        Image: agent.image ?? image,
        Cmd: [NODE, PROGRAM],
        User: `${AGENT_UID}:${AGENT_UID}`,
        Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
        Labels: { [AGENT_LABEL]: agent.id, [PORT_LABEL]: String(port) },
        ExposedPorts: { [`${inner}/tcp`]: {} },
        HostConfig: {
          NetworkMode: kind,
          ...(kind === 'bridge' && {
            PortBindings: { [`${inner}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: String(port) }] },
            ExtraHosts: ['host.docker.internal:host-gateway'],
          }),
          Mounts: [volumeOf(agent.id)],
          Memory: memoryGb * GIB,
          NanoCpus: Math.min(cpus, NCPU) * 1e9,
          PidsLimit: MOST_PROCESSES,
          CapDrop: ['ALL'],
          SecurityOpt: ['no-new-privileges'],
          ReadonlyRootfs: true,
          Tmpfs: { '/tmp': 'size=256m' },
          RestartPolicy: { Name: 'unless-stopped' },
        },
      }),
    );
  }

  async function call(agentId: string, method: string, at: string, body?: unknown, token?: string): Promise<Response> {
    const port = await portOf(agentId);
    if (port === undefined) throw new AppError(502, 'Agent is not running');
    return fetch(`http://127.0.0.1:${port}${at}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    });
  }

  async function portOf(agentId: string): Promise<number | undefined> {
    const found = await inspect(agentId);
    return found?.State.Running ? Number(found.Config.Labels[PORT_LABEL]) : undefined;
  }

  /** Answers the version that serves; throws when it does not within the time. */
  async function healthy(agentId: string): Promise<string> {
    const deadline = Date.now() + healthMs;
    for (;;) {
      const answer = await call(agentId, 'GET', '/health').catch(() => undefined);
      if (answer?.ok) return ((await answer.json()) as { version?: string }).version ?? deps.version;
      const found = await inspect(agentId);
      if (found && found.RestartCount > 2) throw new DriverError('The agent’s container ends as soon as it starts');
      if (Date.now() > deadline) throw new DriverError('The agent did not become healthy in time');
      await delay(200);
    }
  }

  async function dropContainer(agentId: string): Promise<void> {
    await ask(unlessGone(engine.getContainer(nameOf(agentId)).remove({ force: true })));
  }

  /** A container that never runs: the engine reads and writes a volume only through one. */
  async function throughVolume<T>(agentId: string, work: (door: Docker.Container) => Promise<T>): Promise<T> {
    await ensureImage(image);
    const drop = () => ask(unlessGone(engine.getContainer(doorOf(agentId)).remove({ force: true })));
    await drop();
    const door = await ask(
      engine.createContainer({
        name: doorOf(agentId),
        Image: image,
        Cmd: [NODE],
        HostConfig: { NetworkMode: 'none', Mounts: [volumeOf(agentId)] },
      }),
    );
    try {
      return await work(door);
    } finally {
      await drop();
    }
  }

  async function asOwner(agent: AgentRow, method: string, at: string, body?: unknown): Promise<Response> {
    const response = await call(agent.id, method, at, body, await registry.token(agent));
    if (!response.ok) throw new DriverError(`The agent answered ${response.status} on ${at}`);
    return response;
  }

  const proxy = createProxy({
    log,
    where: async (agentId) => {
      const port = await portOf(agentId);
      return port === undefined ? undefined : new URL(`http://127.0.0.1:${port}`);
    },
    async credentials(agentId, token) {
      const principal = await verify(agentId, token);
      const agent = principal && (await registry.find(agentId));
      if (!agent) return undefined;
      const own = await registry.token(agent);
      const limited = memberToken(deps.sessionSecret, agent.id);
      return { token: principal.kind === 'owner' ? own : limited, principal };
    },
  });

  const start = async (agent: AgentRow): Promise<Placement> => {
    const wanted = agent.image ?? image;
    await ensureImage(wanted);
    const found = await inspect(agent.id);
    if (found && found.Config.Image !== wanted) await dropContainer(agent.id);
    if (!found || found.Config.Image !== wanted) await create(agent);
    // A copy that was cut short left it held.
    if (found?.State.Paused) await ask(unlessGone(engine.getContainer(nameOf(agent.id)).unpause()));
    await ask(unlessGone(engine.getContainer(nameOf(agent.id)).start()));
    const version = await healthy(agent.id);
    const { Id, Name, State } = (await inspect(agent.id))!;
    return { version, image: wanted, container: { id: Id, name: Name.replace(/^\//, ''), status: State.Status } };
  };

  return {
    name: 'docker',
    image,
    start,
    async stop({ id }) {
      await ask(unlessGone(engine.getContainer(nameOf(id)).stop({ t: 8 })));
      // The container goes, its volume stays: the next start may be of another image.
      await dropContainer(id);
    },
    async remove({ id }) {
      await dropContainer(id);
      await ask(unlessGone(engine.getContainer(doorOf(id)).remove({ force: true })));
      await ask(unlessGone(engine.getVolume(nameOf(id)).remove({ force: true })));
    },
    async backup({ id }, file) {
      const found = await inspect(id);
      const container = engine.getContainer(nameOf(id));
      // Held still, so that its database is as a power cut would leave it: that it can read.
      const holds = found?.State.Running === true && !found.State.Paused;
      if (holds) await ask(container.pause());
      try {
        await throughVolume(id, async (door) => pack(await ask(door.getArchive({ path: DATA })), file));
      } finally {
        if (holds) await ask(unlessGone(container.unpause()));
      }
    },
    async restore({ id }, file) {
      await dropContainer(id);
      await ask(unlessGone(engine.getContainer(doorOf(id)).remove({ force: true })));
      await ask(unlessGone(engine.getVolume(nameOf(id)).remove({ force: true })));
      await throughVolume(id, (door) => ask(door.putArchive(file, { path: '/' })));
    },
    reset: async (agent) => void (await asOwner(agent, 'POST', '/reset', {})),
    configure: async (agent, definition: AgentDefinition) =>
      void (await asOwner(agent, 'PUT', '/definition', definition)),
    async stats(agent): Promise<DriverStats> {
      const raw = await ask(unlessGone(engine.getContainer(nameOf(agent.id)).stats({ stream: false })));
      const work = await asOwner(agent, 'GET', '/stats')
        .then(async (response) => ((await response.json()) as { stats: RunStats }).stats)
        .catch(() => null);
      return { ...figures(raw), work };
    },
    async alive() {
      const filters = { label: [AGENT_LABEL] };
      const found = await engine.listContainers({ all: true, filters }).catch((err: unknown) => {
        log.warn({ err }, 'the container engine does not tell what runs');
        return undefined;
      });
      // Held still for a copy counts as running.
      const up = found?.filter(({ State }) => State === 'running' || State === 'paused');
      return up && new Set(up.map(({ Labels }) => Labels[AGENT_LABEL]!));
    },
    handle: proxy.handle,
    upgrade: proxy.upgrade,
    cut: proxy.cut,
    // Each container goes on with its own unfinished work when it starts.
    recover: async () => 0,
    disconnect: proxy.disconnect,
    close: async () => {},
  };
}

/** This machine's loopback is not the container's, unless they share a network. */
function platformFor(url: string | undefined, kind: 'bridge' | 'host'): string | undefined {
  if (url === undefined) return undefined;
  const platform = new URL(url);
  if (kind === 'bridge' && ['127.0.0.1', 'localhost'].includes(platform.hostname))
    platform.hostname = 'host.docker.internal';
  return platform.origin;
}

function figures(raw: Docker.ContainerStats | undefined): Omit<DriverStats, 'work'> {
  if (!raw?.cpu_stats) return { cpu: null, memory: null, memoryPercent: null, network: null, pids: null };
  const used = raw.cpu_stats.cpu_usage.total_usage - raw.precpu_stats.cpu_usage.total_usage;
  const passed = raw.cpu_stats.system_cpu_usage - raw.precpu_stats.system_cpu_usage;
  const networks = Object.values(raw.networks ?? {});
  const { usage, limit } = raw.memory_stats;
  return {
    cpu: passed > 0 ? round((100 * used * (raw.cpu_stats.online_cpus || 1)) / passed) : null,
    memory: usage ?? null,
    memoryPercent: usage && limit ? round((100 * usage) / limit) : null,
    network:
      networks.length === 0
        ? null
        : {
            rx: networks.reduce((sum, { rx_bytes }) => sum + rx_bytes, 0),
            tx: networks.reduce((sum, { tx_bytes }) => sum + tx_bytes, 0),
          },
    pids: raw.pids_stats?.current ?? null,
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
