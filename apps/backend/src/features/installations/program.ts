import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { bundleProgram } from '@troupe/fleet';

/** The agent runtime as one file, so that a machine needs nothing but Node to run it. */
export type RuntimeProgram = () => Promise<string>;

const ENTRY = fileURLToPath(new URL('../../../../agent/src/main.ts', import.meta.url));

/** Put together at the first request, then kept. */
export function createRuntimeProgram(): RuntimeProgram {
  let made: Promise<string> | undefined;
  return () => (made ??= bundleProgram(rolldown, ENTRY));
}
