import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { bundleProgram } from '@troupe/fleet/program';

/** A program of its own: prints the agent runtime as one file. What the bundler takes goes with the process. */
const ENTRY = fileURLToPath(new URL('../../../../agent/src/main.ts', import.meta.url));

process.stdout.write(await bundleProgram(rolldown, ENTRY));
