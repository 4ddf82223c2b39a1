import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { PLAN_RESOURCES } from '@troupe/domain';
import type { AgentRow } from '@troupe/roster';
import { DriverError, type Driver, type Placement } from '../driver.ts';
import {
  createCalls,
  environmentOf,
  passingOn,
  type Calls,
  type EnvDeps,
  type Found,
  type OutsideDeps,
} from '../outside.ts';
import { readAccess, type AccessSettings } from './access.ts';
import { createClient, type Client, type KubeObject } from './client.ts';
import { figures, type PodMetrics } from './figures.ts';
import { DATA_DIR, nameOf, networkPolicy, pathsOf, podOf, PORT, secret, statefulSet, type Paths } from './objects.ts';
import { addressOf, followPods, type Pod, type Pods, type RawPod } from './pods.ts';
import { createVolumes, type Volumes } from './volume.ts';

export interface KubernetesDeps extends OutsideDeps, EnvDeps {
  cluster: Cluster;
  image: string;
  /** Where agents find the platform; undefined: nowhere, they have only the built-in model. */
  platformUrl: () => string | undefined;
  /** Undefined: the cluster's own choice. */
  storageClass: string | undefined;
}

export interface Cluster {
  client: Client;
  paths: Paths;
  /** Whether the platform is a pod of it. */
  inside: boolean;
}

/** Throws a StartError when it can never be reached as the settings say. */
export async function kubernetesCluster(settings: AccessSettings, account?: string): Promise<Cluster> {
  const access = await readAccess(settings, account);
  const client = createClient(access);
  const paths = pathsOf(access.namespace);
  await client.tryIt(paths.pods);
  return { client, paths, inside: access.inside };
}

interface RawSet extends KubeObject {
  spec: { replicas?: number };
  status: { observedGeneration?: number; replicas?: number; updateRevision?: string };
}

/** An image may have to be fetched first. */
const HEALTH_MS = 180_000;
const END_MS = 120_000;
const POLL_MS = 200;
const GIB = 1024 ** 3;
const NO_IMAGE = new Set(['ErrImageNeverPull', 'ImagePullBackOff', 'InvalidImageName']);
/** Said once before it tries again. */
const NOT_YET = 'ErrImagePull';

const limitsOf = (agent: AgentRow) => PLAN_RESOURCES[agent.size ?? agent.plan] ?? PLAN_RESOURCES['solo']!;

/** One StatefulSet of one replica an agent, with a claim, a Secret and a NetworkPolicy of its own. */
export function createKubernetes(given: KubernetesDeps): Driver {
  const deps = { healthMs: HEALTH_MS, ...given };
  const { cluster, image, log } = deps;
  const { client, paths } = cluster;
  const volumes = createVolumes({ client, paths, image, storageClass: deps.storageClass });
  const pods = followPods({ client, path: paths.pods, log });
  const running = createRunning(cluster);
  const calls = createCalls(deps, running.look);

  return {
    // What is asked again and again is answered from what the cluster told, also while its API is away.
    ...passingOn(deps, calls, async (agentId) => (await pods.of(agentId))?.address),
    name: 'kubernetes',
    image,
    start: createStart(deps, { volumes, running, calls, pods }),
    stop: ({ id }) => running.end(id),
    async remove({ id }) {
      await running.end(id);
      await client.remove(`${paths.sets}/${nameOf(id)}`);
      await client.remove(`${paths.secrets}/${nameOf(id)}`);
      await client.remove(`${paths.policies}/${nameOf(id)}`);
      await volumes.remove(id);
    },
    backup: ({ id }, file) => volumes.copy(id, file),
    async restore({ id }, file) {
      await running.end(id);
      await volumes.replace(id, file);
    },
    async stats(agent) {
      // Not every cluster measures.
      const metrics = await client.get<PodMetrics>(`${paths.metrics}/${podOf(agent.id)}`);
      return { ...figures(metrics, limitsOf(agent).memoryGb * GIB), work: await calls.work(agent) };
    },
    alive: async () => pods.alive(),
    close: async () => {
      pods.close();
      client.close();
    },
  };
}

/** What the cluster runs for agents, as it says itself: what a watch told may be a moment old. */
function createRunning({ client, paths }: Cluster) {
  const setOf = (agentId: string) => client.get<RawSet>(`${paths.sets}/${nameOf(agentId)}`);
  const podAt = (agentId: string): string => `${paths.pods}/${podOf(agentId)}`;
  /** Its controller has seen what was said last. */
  const seen = ({ metadata, status }: RawSet): boolean =>
    (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);

  /** The agent's pod, if it is one of what was said last. */
  async function podOfNow(agentId: string): Promise<{ pod: RawPod; isOld: boolean } | undefined> {
    const set = await setOf(agentId);
    if (!set || !seen(set)) return undefined;
    const pod = await client.get<RawPod>(podAt(agentId));
    if (!pod) return undefined;
    const revision = pod.metadata.labels?.['controller-revision-hash'];
    return { pod, isOld: revision !== set.status.updateRevision || pod.metadata.deletionTimestamp !== undefined };
  }

  async function look(agentId: string): Promise<Found> {
    const found = await podOfNow(agentId);
    if (!found || found.isOld) return { address: undefined, restarts: 0 };
    const { pod } = found;
    const [container] = pod.status.containerStatuses ?? [];
    const waiting = container?.state?.waiting;
    const unplaced = pod.status.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
    const noPlace = unplaced && `The cluster has no place for the agent: ${unplaced.message ?? unplaced.reason}`;
    const noImage = `The cluster cannot get the image: ${waiting?.message ?? waiting?.reason}`;
    return {
      address: addressOf(pod),
      restarts: container?.restartCount ?? 0,
      problem: NO_IMAGE.has(waiting?.reason ?? '') ? noImage : undefined,
      waitsFor: waiting?.reason === NOT_YET ? noImage : noPlace,
    };
  }

  /** A pod of what was said before does not give way by itself when it never became ready. */
  async function renew(agentId: string): Promise<void> {
    for (const deadline = Date.now() + END_MS; ; await delay(POLL_MS)) {
      const set = await setOf(agentId);
      const found = set && seen(set) ? await podOfNow(agentId) : undefined;
      if (set && seen(set) && !found?.isOld) return;
      if (found?.isOld && found.pod.metadata.deletionTimestamp === undefined)
        await client.remove(podAt(agentId), { uid: found.pod.metadata.uid });
      if (Date.now() > deadline) throw new DriverError('The cluster did not end the agent in time');
    }
  }

  /** Returns when nothing of it runs. */
  async function end(agentId: string): Promise<void> {
    await client.patch(`${paths.sets}/${nameOf(agentId)}`, { spec: { replicas: 0 } });
    for (const deadline = Date.now() + END_MS; ; await delay(POLL_MS)) {
      const set = await setOf(agentId);
      const isDown = !set || (seen(set) && (set.status.replicas ?? 0) === 0);
      if (isDown && !(await client.get(podAt(agentId)))) return;
      if (Date.now() > deadline) throw new DriverError('The cluster did not end the agent in time');
    }
  }

  const uidOf = async (agentId: string) => (await podOfNow(agentId))?.pod.metadata.uid;
  return { look, renew, end, uidOf };
}

interface Parts {
  volumes: Volumes;
  running: ReturnType<typeof createRunning>;
  calls: Calls;
  pods: Pods;
}

function createStart(deps: KubernetesDeps & { healthMs: number }, { volumes, running, calls, pods }: Parts) {
  const { cluster, image } = deps;
  const { client, paths } = cluster;

  async function start(agent: AgentRow): Promise<Placement> {
    const wanted = agent.image ?? image;
    const platform = deps.platformUrl();
    const { memoryGb, cpus } = limitsOf(agent);
    const env = await environmentOf(deps, agent, { platform, dataDir: DATA_DIR, host: '0.0.0.0', port: PORT });
    const own = await addressesOf([...(platform === undefined ? [] : [new URL(platform).host]), ...deps.privateHosts]);
    await volumes.ensure(agent.id);
    // What bounds it is there before it is.
    await client.apply(paths.policies, networkPolicy(agent.id, { private: own, inside: cluster.inside }));
    await client.apply(paths.secrets, secret(nameOf(agent.id), agent.id, env));
    await client.apply(
      paths.sets,
      statefulSet({
        agentId: agent.id,
        image: wanted,
        secretName: nameOf(agent.id),
        limits: { cpu: String(cpus), memory: `${memoryGb}Gi` },
      }),
    );
    await running.renew(agent.id);
    const version = await calls.healthy(agent.id);
    await calls.catchUp(agent);
    const { name, uid } = await known(agent.id);
    return { version, image: wanted, container: { id: uid, name, status: 'running' } };
  }

  /** What counts as running is what the cluster tells: whoever looks next must find it so. */
  async function known(agentId: string): Promise<Pod> {
    const uid = await running.uidOf(agentId);
    for (const deadline = Date.now() + deps.healthMs; ; await delay(POLL_MS)) {
      const pod = await pods.of(agentId);
      if (pod?.ready && pod.uid === uid) return pod;
      if (Date.now() > deadline) throw new DriverError('The agent did not become healthy in time');
    }
  }

  return start;
}

/** `name` or `name:port` of hosts, as addresses of now. A name that leads nowhere leads nowhere for the agent, too. */
async function addressesOf(hosts: readonly string[]): Promise<{ address: string; port?: number }[]> {
  const found = await Promise.all(
    hosts.map(async (host) => {
      const { hostname, port } = new URL(`http://${host}`);
      const name = hostname.replace(/^\[|\]$/g, '');
      const all = isIP(name) ? [{ address: name }] : await lookup(name, { all: true }).catch(() => []);
      return all.map(({ address }) => ({ address, ...(port !== '' && { port: Number(port) }) }));
    }),
  );
  return found.flat();
}
