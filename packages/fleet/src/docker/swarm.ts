import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { sha256Hex } from '@troupe/kernel';
import type { Driver } from '../driver.ts';
import { ask, askIfThere } from './calls.ts';
import { createContainers, type ContainerDeps, type Way } from './containers.ts';
import { AGENT_UID, NODE, PROGRAM } from './image.ts';
import {
  AGENT_LABEL,
  MOST_PROCESSES,
  nameOf,
  PLATFORM_HOST,
  PORT_LABEL,
  STOP_SECONDS,
  TMP_BYTES,
  type ContainerSpec,
} from './spec.ts';
import { volumeOf } from './volume.ts';

const NAMEABLE = /^[a-zA-Z0-9](?:[a-zA-Z0-9-_]{0,61}[a-zA-Z0-9])?$/;
const SECOND = 1e9;
const POLL_MS = 100;

/** A swarm takes shorter names than ids may be. */
const serviceOf = (agentId: string): string =>
  NAMEABLE.test(nameOf(agentId)) ? nameOf(agentId) : nameOf(sha256Hex(agentId).slice(0, 40));

/**
 * One service an agent, of one replica, which the swarm keeps running. Volumes belong to a node, so a service stays on
 * the node whose engine we talk to: that is where its container and its data are found.
 */
export function createSwarm(deps: ContainerDeps): Driver {
  const { engine } = deps;
  const service = (agentId: string) => engine.getService(serviceOf(agentId));
  /** Newest first; those that ended are kept by the swarm for a while. */
  const tasksOf = (agentId: string) =>
    ask(engine.listContainers({ all: true, filters: { label: [`${AGENT_LABEL}=${agentId}`] } }));

  async function create(agentId: string, spec: ContainerSpec): Promise<void> {
    await ask(engine.createService(serviceSpec(agentId, spec, await ownNode(engine))));
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

const ONE_REPLICA = { Replicated: { Replicas: 1 } };

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

function serviceSpec(agentId: string, spec: ContainerSpec, node: string): Docker.CreateServiceOptions {
  const { network } = spec;
  return {
    Name: serviceOf(agentId),
    Labels: { [AGENT_LABEL]: agentId },
    Mode: ONE_REPLICA,
    TaskTemplate: {
      ContainerSpec: {
        Image: spec.image,
        Command: [NODE, PROGRAM],
        User: `${AGENT_UID}:${AGENT_UID}`,
        Env: spec.env,
        Labels: spec.labels,
        Mounts: [volumeOf(agentId), { Type: 'tmpfs', Source: '', Target: '/tmp', TmpfsOptions: TMP }],
        ...(network.kind === 'bridge' && { Hosts: [`${network.gateway} ${PLATFORM_HOST}`] }),
        ReadOnly: true,
        CapabilityDrop: ['ALL'],
        StopGracePeriod: STOP_SECONDS * SECOND,
      },
      Resources: { Limits: { MemoryBytes: spec.memoryBytes, NanoCPUs: spec.nanoCpus, Pids: MOST_PROCESSES } },
      RestartPolicy: { Condition: 'any', Delay: SECOND },
      Placement: { Constraints: [`node.id==${node}`] },
      Networks: [{ Target: network.kind }],
    },
  };
}

const TMP = { SizeBytes: TMP_BYTES, Mode: 0o1777 };
