import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@troupe/kernel';
import { askContainer } from '../container-fetch.ts';
import { ApiError, clusterAway, type Client, type KubeObject } from './client.ts';
import { AGENT_LABEL, AGENT_PODS, PORT } from './objects.ts';

/** What is known of the pods of agents, by a watch that begins again whenever it ends. */

export interface RawPod extends KubeObject {
  spec: { nodeName?: string };
  status: {
    phase?: string;
    podIP?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    containerStatuses?: {
      restartCount: number;
      state?: { waiting?: { reason?: string; message?: string }; running?: object };
    }[];
  };
}

/** As much of a pod as is kept: there may be tens of thousands. */
export interface Pod {
  agentId: string;
  name: string;
  uid: string;
  address: string | undefined;
  ready: boolean;
  /** When it should have ended at the latest. */
  endsAt: number | undefined;
}

const RETRY_MS = 1000;
const SLOWEST_RETRY_MS = 5000;
const FIRST_LOOK_MS = 5000;
/** A kubelet that lives takes a pod away soon after its time; one that does not is on a machine that is gone. */
const SWEEP_MS = 2000;
const OVERDUE_MS = 5000;
const PING_MS = 3000;

const urlOf = (ip: string): string => `http://${ip.includes(':') ? `[${ip}]` : ip}:${PORT}`;

export const addressOf = ({ status }: RawPod): string | undefined =>
  status.phase === 'Running' && status.podIP && status.containerStatuses?.[0]?.state?.running
    ? urlOf(status.podIP)
    : undefined;

const kept = (pod: RawPod): Pod => {
  const { name, uid = '', deletionTimestamp, annotations } = pod.metadata;
  return {
    agentId: annotations?.[AGENT_LABEL] ?? '',
    name,
    uid,
    address: addressOf(pod),
    ready: pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
    endsAt: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp),
  };
};

const isForgotten = (error: unknown): boolean => error instanceof ApiError && error.status === 410;

interface Following {
  client: Client;
  path: string;
  log: Log;
}

/** Pods by their name, and by the agent that they are. */
function createKnown() {
  const byName = new Map<string, Pod>();
  const byAgent = new Map<string, Pod>();
  return {
    byAgent,
    all: () => byName.values(),
    keep(raw: KubeObject): void {
      const pod = kept(raw as RawPod);
      byName.set(pod.name, pod);
      if (pod.agentId !== '') byAgent.set(pod.agentId, pod);
    },
    drop(raw: KubeObject): void {
      const { name, agentId } = kept(raw as RawPod);
      byName.delete(name);
      if (byAgent.get(agentId)?.name === name) byAgent.delete(agentId);
    },
    clear(): void {
      byName.clear();
      byAgent.clear();
    },
  };
}
type Known = ReturnType<typeof createKnown>;

/** Keeps what is known right. `isCurrent`: whether it is at this moment. */
function createWatch({ client, path, log }: Following, known: Known) {
  const query = `labelSelector=${encodeURIComponent(AGENT_PODS)}`;
  const ended = new AbortController();
  const firstLook = Promise.withResolvers<void>();
  let current = false;
  let version: string | undefined;

  async function look(): Promise<string> {
    const found = await client.list(path, query);
    known.clear();
    for (const pod of found.items) known.keep(pod);
    return found.version;
  }

  async function follow(): Promise<void> {
    version ??= await look();
    for await (const event of client.watch(path, query, version, ended.signal)) {
      if (event === 'open') {
        if (!current) log.info({}, 'the cluster tells what runs');
        current = true;
        firstLook.resolve();
        continue;
      }
      version = event.object.metadata.resourceVersion ?? version;
      if (event.type === 'DELETED') known.drop(event.object);
      else if (event.type !== 'BOOKMARK') known.keep(event.object);
    }
  }

  async function forever(): Promise<void> {
    for (let wait = RETRY_MS; !ended.signal.aborted;) {
      const began = Date.now();
      try {
        await follow();
        wait = RETRY_MS;
      } catch (err) {
        if (ended.signal.aborted) return;
        if (isForgotten(err)) version = undefined;
        else {
          if (current) log.warn({ err }, 'the cluster does not tell what runs');
          current = false;
          wait = Math.min(wait * 2, SLOWEST_RETRY_MS);
        }
      }
      // One that ends as soon as it begins must not keep us busy.
      if (Date.now() - began < wait) await delay(wait, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  }

  void forever();
  return {
    isCurrent: () => current,
    firstLook: firstLook.promise,
    close(): void {
      ended.abort();
      firstLook.resolve();
    },
  };
}

/** Of a machine that is gone nobody tells that a pod has ended, and Kubernetes waits for that for ever. */
function createSweep({ client, path, log }: Following, known: Known, isCurrent: () => boolean): NodeJS.Timeout {
  async function sweep(): Promise<void> {
    const late = Date.now() - OVERDUE_MS;
    for (const { name, uid, address, endsAt } of known.all()) {
      if (endsAt === undefined || endsAt > late) continue;
      // It lives, though its kubelet does not: a second one must not write to the same volume.
      if (address !== undefined && (await answers(address))) continue;
      log.warn({ pod: name }, 'a pod whose machine is gone is taken off the list');
      await client.remove(`${path}/${name}`, { uid, grace: 0 });
    }
  }
  let sweeping = false;
  return setInterval(() => {
    if (sweeping || !isCurrent()) return;
    sweeping = true;
    sweep()
      .catch((err: unknown) => log.warn({ err }, 'a pod whose machine is gone stays on the list'))
      .finally(() => (sweeping = false));
  }, SWEEP_MS).unref();
}

export function followPods(following: Following) {
  const known = createKnown();
  const { byAgent } = known;
  const watch = createWatch(following, known);
  const sweeping = createSweep(following, known, watch.isCurrent);
  return {
    /** Undefined: there is none. What was known last counts for as long as the cluster tells nothing. */
    async of(agentId: string): Promise<Pod | undefined> {
      const pod = byAgent.get(agentId);
      if (pod || watch.isCurrent()) return pod;
      await Promise.race([watch.firstLook, delay(FIRST_LOOK_MS, undefined, { ref: false })]);
      if (!watch.isCurrent()) throw clusterAway(undefined);
      return byAgent.get(agentId);
    },
    /** Undefined: nobody can tell now. */
    alive(): Set<string> | undefined {
      if (!watch.isCurrent()) return undefined;
      const up = [...byAgent.values()].filter(({ ready, endsAt }) => ready && endsAt === undefined);
      return new Set(up.map(({ agentId }) => agentId));
    },
    close(): void {
      clearInterval(sweeping);
      watch.close();
    },
  };
}
export type Pods = ReturnType<typeof followPods>;

const answers = (address: string): Promise<boolean> =>
  askContainer(address, '/health', { ms: PING_MS }).then(
    async (response) => {
      await response.body?.cancel();
      return true;
    },
    () => false,
  );
