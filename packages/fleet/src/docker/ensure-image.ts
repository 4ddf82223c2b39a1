import type Docker from 'dockerode';
import type { Log } from '@troupe/kernel';
import { DriverError } from '../driver.ts';
import { ask, askIfThere } from './calls.ts';
import { agentImage } from './image.ts';

export interface ImageDeps {
  engine: Docker;
  log: Log;
  /** Made here from this machine's Node and the agent program when the engine does not have it. */
  image: string;
  program: () => Promise<string>;
  node: string;
}

/** Sees to it that the engine has an image; the platform's own is built once, however many ask for it. */
export function createEnsureImage({ engine, log, image, program, node }: ImageDeps) {
  let building: Promise<void> | undefined;

  async function build(): Promise<void> {
    const [repo, tag = 'latest'] = image.split(':');
    const archive = await agentImage(await program(), node);
    const output = (await ask(engine.importImage(archive, { repo, tag }) as Promise<unknown>)) as NodeJS.ReadableStream;
    for await (const piece of output) log.debug({ output: String(piece) }, 'agent image');
  }

  return async (wanted: string): Promise<void> => {
    if (await askIfThere(engine.getImage(wanted).inspect())) return;
    if (wanted !== image) throw new DriverError(`There is no image ${wanted} on the container engine`);
    building ??= build().finally(() => (building = undefined));
    await building;
  };
}
