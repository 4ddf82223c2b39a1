import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { Driver } from '../driver.ts';
import { ask, askIfThere } from './calls.ts';
import { createContainers, type ContainerDeps, type Way } from './containers.ts';
import { ONE_REPLICA, serviceOf, serviceSpec } from './service-spec.ts';
import { AGENT_LABEL, MOST_PROCESSES, PLATFORM_HOST, PORT_LABEL, STOP_SECONDS, type ContainerSpec } from './spec.ts';
import { createSpread } from './spread.ts';
import type { Spread } from './spread-settings.ts';
import { volumeOf } from './volume.ts';

const POLL_MS = 100;

export interface SwarmDeps extends ContainerDeps {
  /** Where agents may be anywhere; undefined: they stay on the node whose engine we talk to. */
  spread?: Spread | undefined;
}

/** One service an agent, of one replica, which the swarm keeps running. */
export const createSwarm = ({ spread, ...deps }: SwarmDeps): Driver =>
  spread ? createSpread(deps, spread) : createPinned(deps);

/** Volumes of an engine belong to its node, so services stay there: that is where containers and data are found. */
function createPinned(deps: ContainerDeps): Driver {
  const { engine } = deps;
  const service = (agentId: string) => engine.getService(serviceOf(agentId));
  /** Newest first; those that ended are kept by the swarm for a while. */
  const tasksOf = (agentId: string) =>
    ask(engine.listContainers({ all: true, filters: { label: [`${AGENT_LABEL}=${agentId}`] } }));

  async function create(agentId: string, spec: ContainerSpec): Promise<void> {
    await ask(engine.createService(pinnedSpec(agentId, spec, await ownNode(engine))));
  }

  async function look(agentId: string) {
    const told = (await askIfThere(service(agentId).inspect())) as { Spec: ServiceSpec } | undefined;
    if (!told) return undefined;
    const tasks = await tasksOf(agentId);
    const running = tasks.find(({ State }) => State === 'running' || State === 'paused');
    return {
      image: told.Spec.TaskTemplate.ContainerSpec.Image,
      restarts: tasks.filter(({ State }) => State === 'exited' || State === 'dead').length,
      container: running && (await askIfThere(engine.getContainer(running.Id).inspect())),
    };
  }

  /** The swarm would take its time to end the containers, and they hold the volume: we need not wait for it. */
  async function end(agentId: string, inTime: boolean): Promise<void> {
    await askIfThere(service(agentId).remove());
    for (let tasks = await tasksOf(agentId); tasks.length > 0; tasks = await tasksOf(agentId)) {
      for (const { Id, State } of tasks) {
        if (inTime && State === 'running') await askIfThere(engine.getContainer(Id).stop({ t: STOP_SECONDS }));
        await askIfThere(engine.getContainer(Id).remove({ force: true }));
      }
      // Another may have been on its way.
      await delay(POLL_MS);
    }
  }

  const way: Way = {
    name: 'swarm',
    create,
    look,
    end,
    async start(agentId) {
      const { Spec, Version } = (await ask(service(agentId).inspect())) as {
        Spec: ServiceSpec;
        Version: { Index: number };
      };
      if (Spec.Mode.Replicated.Replicas === 1) return;
      // Somebody has taken it down by hand.
      await ask(service(agentId).update({ ...Spec, version: Version.Index, Mode: ONE_REPLICA }));
    },
    address({ Config, NetworkSettings }) {
      const inBridge = NetworkSettings.Networks['bridge']?.IPAddress;
      return inBridge
        ? `http://${inBridge}:${innerPortOf(Config.Env)}`
        : `http://127.0.0.1:${Config.Labels[PORT_LABEL]}`;
    },
  };
  return createContainers(deps, way);
}

interface ServiceSpec extends Docker.ServiceSpec {
  TaskTemplate: { ContainerSpec: { Image: string } };
  Mode: typeof ONE_REPLICA;
}

const innerPortOf = (env: readonly string[]): string =>
  env.find((line) => line.startsWith('PORT='))?.slice('PORT='.length) ?? '';

async function ownNode(engine: Docker): Promise<string> {
  const { Swarm } = (await ask(engine.info())) as { Swarm: { NodeID: string } };
  return Swarm.NodeID;
}

function pinnedSpec(agentId: string, spec: ContainerSpec, node: string): Docker.CreateServiceOptions {
  const { network } = spec;
  return serviceSpec({
    name: serviceOf(agentId),
    labels: { [AGENT_LABEL]: agentId },
    image: spec.image,
    env: spec.env,
    containerLabels: spec.labels,
    data: volumeOf(agentId),
    ...(network.kind === 'bridge' && { hosts: [`${network.gateway} ${PLATFORM_HOST}`] }),
    limits: { MemoryBytes: spec.memoryBytes, NanoCPUs: spec.nanoCpus, Pids: MOST_PROCESSES },
    constraints: [`node.id==${node}`],
    network: network.kind,
  });
}
