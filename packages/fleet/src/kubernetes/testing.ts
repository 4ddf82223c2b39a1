import path from 'node:path';
import { rolldown } from 'rolldown';
import type { ThisCluster } from '@troupe/testing/kubernetes/cluster';
import { writeImage } from '../docker/archive.ts';
import { bundleProgram } from '../program.ts';
import type { Grounds } from '../testing.ts';
import type { Cluster, KubernetesDeps } from './kubernetes.ts';

const ENTRY = new URL('../../../../apps/agent/src/main.ts', import.meta.url).pathname;

export const IMAGE = 'troupe.local/agent:test';
export const SICK = 'troupe.local/agent:sick';

export const kubernetesDeps = (grounds: Grounds, cluster: Cluster): KubernetesDeps => ({
  cluster,
  roster: grounds.roster,
  log: grounds.runtime.log,
  version: '1.0.0',
  image: IMAGE,
  // Nobody listens there: agents in these tests think with the sandbox of their own.
  platformUrl: () => undefined,
  privateHosts: [],
  sessionSecret: 'secret-of-sessions',
  verify: grounds.verify,
  storageClass: undefined,
});

/** One that serves, and one that starts and never does. */
export async function addImages({ folder, addImage }: ThisCluster): Promise<void> {
  const programs = { [IMAGE]: await bundleProgram(rolldown, ENTRY), [SICK]: 'setInterval(() => {}, 1000)' };
  for (const [name, program] of Object.entries(programs)) {
    const file = path.join(folder, 'image.tar');
    await writeImage(file, { name, program, node: process.execPath });
    await addImage(file);
  }
}
