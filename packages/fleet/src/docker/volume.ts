import type Docker from 'dockerode';
import { pack } from '../pack.ts';
import { ask, askIfThere } from './calls.ts';
import { DATA, NODE } from './image.ts';
import { nameOf } from './spec.ts';

const doorOf = (agentId: string): string => `${nameOf(agentId)}-data`;
export const volumeOf = (agentId: string) => ({ Type: 'volume' as const, Source: nameOf(agentId), Target: DATA });

/** An agent's data: a volume that outlives what runs on it. */
export function createVolumes(engine: Docker, image: string, ensureImage: (image: string) => Promise<void>) {
  const dropDoor = (agentId: string) => askIfThere(engine.getContainer(doorOf(agentId)).remove({ force: true }));

  /** A container that never runs: the engine reads and writes a volume only through one. */
  async function through<T>(agentId: string, work: (door: Docker.Container) => Promise<T>): Promise<T> {
    await ensureImage(image);
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

  async function remove(agentId: string): Promise<void> {
    await dropDoor(agentId);
    await askIfThere(engine.getVolume(nameOf(agentId)).remove({ force: true }));
  }

  return {
    remove,
    copy: (agentId: string, file: string): Promise<void> =>
      through(agentId, async (door) => pack(await ask(door.getArchive({ path: DATA })), file)),
    async replace(agentId: string, file: string): Promise<void> {
      await remove(agentId);
      await through(agentId, (door) => ask(door.putArchive(file, { path: '/' })));
    },
  };
}
