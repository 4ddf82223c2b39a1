import assert from 'node:assert/strict';
import type Docker from 'dockerode';
import { rolldown } from 'rolldown';
import type { Driver } from '../driver.ts';
import { newAgent, type Door, type Grounds } from '../testing.ts';
import type { ContainerDeps } from './containers.ts';
import { bundleProgram } from '../program.ts';
import { agentImage } from './image.ts';

const ENTRY = new URL('../../../../apps/agent/src/main.ts', import.meta.url).pathname;

const program = (): Promise<string> => bundleProgram(rolldown, ENTRY);

export const IMAGE = 'troupe-agent:test';
export const SICK = 'troupe-agent:sick';

export const containerDeps = (grounds: Grounds, engine: Docker): ContainerDeps => ({
  engine,
  roster: grounds.roster,
  log: grounds.runtime.log,
  version: '1.0.0',
  image: IMAGE,
  program,
  node: process.execPath,
  // Nobody listens there: agents in these tests think with the sandbox of their own.
  platformUrl: () => undefined,
  // The engines of tests have no bridge.
  hostNetwork: true,
  privateHosts: [],
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

/** A service has a name of so many letters at most, and an agent may have a longer one. */
export async function runsWithLongId(grounds: Grounds, driver: Driver, door: Door): Promise<void> {
  const agent = await newAgent(grounds, `team_1_abcdef-${'x'.repeat(60)}`);
  await driver.start(agent);
  assert.equal((await door.ask(agent.id, 'GET', '/ready')).status, 200);
  await driver.remove(agent);
}
