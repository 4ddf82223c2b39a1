import { setTimeout as delay } from 'node:timers/promises';
import { randomHex } from '@troupe/kernel';
import { doorEnv, openDoor, type DataDoor } from '../data-door.ts';
import { DriverError } from '../driver.ts';
import type { Client, KubeObject } from './client.ts';
import { claim, DATA_DIR, doorOf, doorPod, nameOf, podOf, PORT, secret, type Paths } from './objects.ts';
import { addressOf, type RawPod } from './pods.ts';

export interface VolumeDeps {
  client: Client;
  paths: Paths;
  /** Of this release: it gives data out, whatever image the agent itself has. */
  image: string;
  /** Undefined: the cluster's own choice. */
  storageClass: string | undefined;
}

const POLL_MS = 200;
const GONE_MS = 60_000;
const DOOR_MS = 180_000;
const LIMITS = { cpu: '1', memory: '512Mi' };
const OVERDUE_MS = 5000;
const CLOSED = 'The agent’s data cannot be reached in the cluster';

/** A pod beside the agent's, through which files go in and out: only a container reaches a volume. */
function createDoor({ client, paths, image }: VolumeDeps) {
  async function dropDoor(agentId: string): Promise<void> {
    const at = `${paths.pods}/${doorOf(agentId)}`;
    await client.remove(at, { grace: 1 });
    await client.remove(`${paths.secrets}/${doorOf(agentId)}`);
    for (const deadline = Date.now() + GONE_MS; ; await delay(POLL_MS)) {
      const left = await client.get(at);
      if (!left) return;
      const { deletionTimestamp, uid } = left.metadata;
      // Its machine is gone, and nobody will tell of its end.
      if (deletionTimestamp && Date.parse(deletionTimestamp) + OVERDUE_MS < Date.now())
        await client.remove(at, { uid, grace: 0 });
      if (Date.now() > deadline) throw new DriverError('The cluster did not end the copy of the agent’s data in time');
    }
  }

  const look = async (agentId: string) => {
    const pod = await client.get<RawPod>(`${paths.pods}/${doorOf(agentId)}`);
    return pod && { address: addressOf(pod), problem: pod.status.phase === 'Failed' ? CLOSED : undefined };
  };

  async function through<T>(agentId: string, work: (door: DataDoor) => Promise<T>): Promise<T> {
    await dropDoor(agentId);
    const token = randomHex(32);
    try {
      await client.create(paths.secrets, secret(doorOf(agentId), agentId, doorEnv(token, DATA_DIR, PORT)));
      const beside = (await client.get(`${paths.pods}/${podOf(agentId)}`)) !== undefined;
      const running = { agentId, image, secretName: doorOf(agentId), limits: LIMITS };
      await client.create(paths.pods, doorPod(running, beside));
      return await work(await openDoor({ ms: DOOR_MS, token, look: () => look(agentId), closed: CLOSED }));
    } finally {
      await dropDoor(agentId);
    }
  }

  return { dropDoor, through };
}

/** An agent's data: a claim that outlives what runs on it. */
export function createVolumes(deps: VolumeDeps) {
  const { client, paths, storageClass } = deps;
  const { dropDoor, through } = createDoor(deps);
  const at = (agentId: string): string => `${paths.claims}/${nameOf(agentId)}`;
  const isThere = (found: KubeObject | undefined): boolean =>
    found?.metadata.deletionTimestamp === undefined && !!found;

  /** One that is on its way out is waited for. */
  async function ensure(agentId: string): Promise<void> {
    for (const deadline = Date.now() + GONE_MS; ; await delay(POLL_MS)) {
      const found = await client.get(at(agentId));
      if (isThere(found)) return;
      if (!found) return void (await client.create(paths.claims, claim(agentId, storageClass)));
      if (Date.now() > deadline) throw new DriverError('The cluster did not remove the agent’s old data in time');
    }
  }

  return {
    ensure,
    async remove(agentId: string): Promise<void> {
      await dropDoor(agentId);
      await client.remove(at(agentId));
    },
    has: async (agentId: string): Promise<boolean> => isThere(await client.get(at(agentId))),
    async copy(agentId: string, file: string, maxBytes?: number): Promise<void> {
      await ensure(agentId);
      await through(agentId, (door) => door.copy(file, maxBytes));
    },
    async replace(agentId: string, file: string): Promise<void> {
      await ensure(agentId);
      await through(agentId, (door) => door.replace(file));
    },
  };
}
export type Volumes = ReturnType<typeof createVolumes>;
