import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { randomHex, sha256Hex } from '@troupe/kernel';
import { doorEnv, openDoor, type DataDoor } from '../data-door.ts';
import { DriverError } from '../driver.ts';
import { ask, askIfThere } from './calls.ts';
import { DATA } from './image.ts';
import { serviceOf } from './service-spec.ts';
import { foundOf, runningOf, type Services } from './services.ts';
import { INNER_PORT, MOST_PROCESSES, nameOf } from './spec.ts';
import type { Spread } from './spread-settings.ts';

export interface SpreadVolumeDeps {
  engine: Docker;
  services: Services;
  spread: Spread;
  /** Of this release: it gives data out, whatever image the agent itself has. */
  image: string;
}

/** Below the volume's own folder: some kinds of disk have files of their own there. */
export const DATA_DIR = `${DATA}/agent`;
const DOOR_LABEL = 'troupe.data';
const DOOR_MS = 180_000;
const GONE_MS = 60_000;
const POLL_MS = 500;
const LIMITS = { MemoryBytes: 512 * 1024 ** 2, Pids: MOST_PROCESSES };
const IN_USE = 409;

const doorOf = (agentId: string): string => `troupe-data-${sha256Hex(agentId).slice(0, 40)}`;

/** The agent's volume, for a container on any node. */
export const spreadVolumeOf = (agentId: string, { driver, driverOptions }: Spread): Docker.MountSettings => ({
  Type: 'volume',
  Source: nameOf(agentId),
  Target: DATA,
  VolumeOptions: {
    NoCopy: false,
    Labels: {},
    DriverConfig: { Name: driver, Options: driverOptions },
  },
});

/** A service beside the agent's, through which files go in and out. */
function createDoor({ services, spread, image }: SpreadVolumeDeps) {
  /** On the agent's node while that runs: not every kind of volume is on two at a time. */
  async function place(agentId: string): Promise<string[]> {
    const agent = await services.find(serviceOf(agentId));
    const node = agent && runningOf(agent)?.NodeID;
    return node === undefined ? [] : [`node.id==${node}`];
  }

  async function through<T>(agentId: string, work: (door: DataDoor) => Promise<T>): Promise<T> {
    const name = doorOf(agentId);
    await services.end(name);
    const token = randomHex(32);
    const env = { ...doorEnv(token, DATA_DIR, INNER_PORT), DATA_SHARED: 'on' };
    try {
      await services.create({
        name,
        labels: { [DOOR_LABEL]: agentId },
        image,
        env: Object.entries(env).map((pair) => pair.join('=')),
        containerLabels: {},
        data: spreadVolumeOf(agentId, spread),
        limits: { ...LIMITS, NanoCPUs: Math.min(1e9, await services.fewestCpus()) },
        constraints: await place(agentId),
        network: spread.network,
        endpoints: { Mode: 'dnsrr' },
      });
      const door = await openDoor({
        ms: DOOR_MS,
        token,
        closed: 'The agent’s data cannot be reached in the swarm',
        async look() {
          const found = await services.find(name);
          return found && foundOf(found, spread.network);
        },
      });
      return await work(door);
    } finally {
      await services.end(name);
    }
  }

  return through;
}

/** An agent's data: a volume that every node reaches, and that outlives what runs on it. */
export function createSpreadVolumes(deps: SpreadVolumeDeps) {
  const { engine, services } = deps;
  const through = createDoor(deps);

  async function remove(agentId: string): Promise<void> {
    await services.end(doorOf(agentId));
    const volume = engine.getVolume(nameOf(agentId));
    for (const deadline = Date.now() + GONE_MS; ; await delay(POLL_MS)) {
      const failed = await volume.remove().then(
        () => undefined,
        (error: unknown) => error as { statusCode?: number },
      );
      if (failed === undefined || failed.statusCode === 404) return;
      // What has ended is put away a moment later.
      if (failed.statusCode !== IN_USE) await ask(Promise.reject(failed as Error));
      if (Date.now() > deadline) throw new DriverError('The agent’s data is still in use and was not removed');
    }
  }

  return {
    remove,
    has: async (agentId: string): Promise<boolean> =>
      (await askIfThere(engine.getVolume(nameOf(agentId)).inspect())) !== undefined,
    copy: (agentId: string, file: string, maxBytes?: number): Promise<void> =>
      through(agentId, (door) => door.copy(file, maxBytes)),
    replace: (agentId: string, file: string): Promise<void> => through(agentId, (door) => door.replace(file)),
  };
}
