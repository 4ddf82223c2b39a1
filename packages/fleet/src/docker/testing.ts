import type Docker from 'dockerode';
import { rolldown } from 'rolldown';
import type { Grounds } from '../testing.ts';
import type { ContainerDeps } from './containers.ts';
import { agentImage } from './image.ts';

const ENTRY = new URL('../../../../apps/agent/src/main.ts', import.meta.url).pathname;

async function program(): Promise<string> {
  const build = await rolldown({ input: ENTRY, platform: 'node', logLevel: 'silent' });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  await build.close();
  return output[0].code;
}

export const IMAGE = 'troupe-agent:test';
export const SICK = 'troupe-agent:sick';

export const containerDeps = (grounds: Grounds, engine: Docker): ContainerDeps => ({
  engine,
  registry: grounds.registry,
  log: grounds.runtime.log,
  version: '1.0.0',
  image: IMAGE,
  program,
  node: process.execPath,
  // Nobody listens there: agents in these tests think with the sandbox of their own.
  platformUrl: () => undefined,
  sessionSecret: 'secret-of-sessions',
  verify: grounds.verify,
});

/** An image that starts and never serves. */
export async function addSickImage(engine: Docker): Promise<void> {
  const archive = await agentImage('setInterval(() => {}, 1000)', process.execPath);
  const [repo, tag] = SICK.split(':');
  const output = (await engine.importImage(archive, { repo, tag })) as unknown as NodeJS.ReadableStream;
  for await (const _ of output) continue;
}
