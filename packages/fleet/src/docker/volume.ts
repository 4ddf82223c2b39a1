import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { pack } from '../pack.ts';
import { tar } from '@troupe/kernel';
import { ask, askIfThere } from './calls.ts';
import { AGENT_UID, DATA, NODE } from './image.ts';
import { AGENT_LABEL, nameOf } from './spec.ts';

const doorOf = (agentId: string): string => `${nameOf(agentId)}-data`;
export const volumeOf = (agentId: string) => ({ Type: 'volume' as const, Source: nameOf(agentId), Target: DATA });

/** Of our own, and next to nothing: an engine that is to get an agent's data back need not have its image yet. */
const DOOR_IMAGE = ['troupe-agent-data', '1'] as const;

/** A container that is never started, through which files go in and out. */
function createDoor(engine: Docker) {
  const image = DOOR_IMAGE.join(':');
  const dropDoor = (agentId: string) => askIfThere(engine.getContainer(doorOf(agentId)).remove({ force: true }));

  async function ensureImage(): Promise<void> {
    if (await askIfThere(engine.getImage(image).inspect())) return;
    const [repo, tag] = DOOR_IMAGE;
    const files = Readable.from(tar([{ path: `${DATA.slice(1)}/`, mode: 0o700, owner: AGENT_UID }]));
    const made = (await ask(engine.importImage(files, { repo, tag }) as Promise<unknown>)) as NodeJS.ReadableStream;
    for await (const _ of made) continue;
  }

  /** A container that never runs: the engine reads and writes a volume only through one. */
  async function through<T>(agentId: string, work: (door: Docker.Container) => Promise<T>): Promise<T> {
    await ensureImage();
    await dropDoor(agentId);
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
      await dropDoor(agentId);
    }
  }

  return { dropDoor, through };
}

/** An agent's data: a volume that outlives what runs on it. */
export function createVolumes(engine: Docker) {
  const { dropDoor, through } = createDoor(engine);

  /** Held still, so that its database is as a power cut would leave it: that it can read. */
  async function still<T>(agentId: string, work: () => Promise<T>): Promise<T> {
    const filters = { label: [`${AGENT_LABEL}=${agentId}`], status: ['running'] };
    const held = (await ask(engine.listContainers({ filters }))).map(({ Id }) => engine.getContainer(Id));
    try {
      for (const container of held) await ask(container.pause());
      return await work();
    } finally {
      for (const container of held) await askIfThere(container.unpause());
    }
  }

  async function remove(agentId: string): Promise<void> {
    await dropDoor(agentId);
    await askIfThere(engine.getVolume(nameOf(agentId)).remove({ force: true }));
  }

  return {
    remove,
    has: async (agentId: string): Promise<boolean> =>
      (await askIfThere(engine.getVolume(nameOf(agentId)).inspect())) !== undefined,
    copy: (agentId: string, file: string, maxBytes?: number): Promise<void> =>
      still(agentId, () =>
        through(agentId, async (door) => pack(await ask(door.getArchive({ path: DATA })), file, maxBytes)),
      ),
    async replace(agentId: string, file: string): Promise<void> {
      await remove(agentId);
      await through(agentId, (door) => ask(door.putArchive(file, { path: '/' })));
    },
  };
}
