import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { randomHex } from '@troupe/kernel';
import { askContainer } from '../container-fetch.ts';
import { DriverError } from '../driver.ts';
import { pack } from '../pack.ts';
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
const PING_MS = 3000;
/** A copy that takes longer has stopped moving. */
const COPY_MS = 3_600_000;
const LIMITS = { cpu: '1', memory: '512Mi' };
const OVERDUE_MS = 5000;

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

  async function opened(agentId: string): Promise<string> {
    for (const deadline = Date.now() + DOOR_MS; ; await delay(POLL_MS)) {
      const pod = await client.get<RawPod>(`${paths.pods}/${doorOf(agentId)}`);
      const address = pod && addressOf(pod);
      const answer = address
        ? await askContainer(address, '/health', { ms: PING_MS }).catch(() => undefined)
        : undefined;
      await answer?.body?.cancel();
      if (address && answer?.ok) return address;
      if (pod?.status.phase === 'Failed' || Date.now() > deadline)
        throw new DriverError('The agent’s data cannot be reached in the cluster');
    }
  }

  async function through<T>(agentId: string, work: (ask: (init: RequestInit) => Promise<Response>) => Promise<T>) {
    await dropDoor(agentId);
    const token = randomHex(32);
    const env = { DATA_TOKEN: token, DATA_DIR, HOST: '0.0.0.0', PORT: String(PORT) };
    try {
      await client.create(paths.secrets, secret(doorOf(agentId), agentId, env));
      const beside = (await client.get(`${paths.pods}/${podOf(agentId)}`)) !== undefined;
      const running = { agentId, image, secretName: doorOf(agentId), limits: LIMITS };
      await client.create(paths.pods, doorPod(running, beside));
      const address = await opened(agentId);
      return await work(async (init) => {
        const headers = { authorization: `Bearer ${token}` };
        const response = await askContainer(address, '/data', { ...init, headers, ms: COPY_MS });
        if (!response.ok) throw new DriverError(`The agent’s data could not be copied: ${response.status}`);
        return response;
      });
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
      await through(agentId, async (ask) => {
        const { body } = await ask({ method: 'GET' });
        await pack(Readable.fromWeb(body as import('node:stream/web').ReadableStream), file, maxBytes);
      });
    },
    async replace(agentId: string, file: string): Promise<void> {
      await ensure(agentId);
      const body = Readable.toWeb(createReadStream(file)) as ReadableStream;
      await through(agentId, (ask) => ask({ method: 'PUT', body, duplex: 'half' } as RequestInit));
    },
  };
}
export type Volumes = ReturnType<typeof createVolumes>;
