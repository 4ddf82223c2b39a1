import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { writeImage } from '@troupe/fleet';
import type { ThisCluster } from './cluster.ts';

const SCRIPT = path.resolve(import.meta.dirname, '../../../../scripts/agent-image.ts');

export const IMAGE = 'troupe.local/agent:test';
/** Starts, and never serves. */
export const SICK = 'troupe.local/agent:sick';

/** Gives the cluster both images, once. */
export async function addImages({ folder, addImage }: ThisCluster): Promise<void> {
  const done = path.join(folder, 'has-images');
  if (existsSync(done)) return;
  const file = path.join(folder, 'image.tar');
  // As an operator would.
  await promisify(execFile)(process.execPath, [SCRIPT, file], {
    env: { PATH: process.env['PATH'], AGENT_IMAGE: IMAGE },
  });
  await addImage(file);
  await writeImage(file, { name: SICK, program: 'setInterval(() => {}, 1000)', node: process.execPath });
  await addImage(file);
  writeFileSync(done, '');
}
