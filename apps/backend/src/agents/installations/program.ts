import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * The agent runtime as one file, so that a machine needs nothing but Node to run it. Bytes, and always the same: those who
 * are slow to take them share them.
 */
export type RuntimeProgram = () => Promise<Buffer>;

/** Made with the platform's own program. */
const MADE = new URL('../../../../../.runtime/program/agent.mjs', import.meta.url);
const BUNDLE = fileURLToPath(new URL('./bundle.ts', import.meta.url));
const MOST_BYTES = 64 * 1024 * 1024;
const LONGEST_MS = 120_000;

const run = promisify(execFile);

/** Read at the first request, then kept. */
export function createRuntimeProgram(): RuntimeProgram {
  let made: Promise<Buffer> | undefined;
  return () =>
    (made ??= readFile(MADE)
      .catch(bundled)
      .catch((error: unknown) => {
        made = undefined;
        throw error;
      }));
}

/** Where the platform runs from its sources alone. Elsewhere: the bundler would keep 400 MB of this process for good. */
async function bundled(): Promise<Buffer> {
  const options = { maxBuffer: MOST_BYTES, timeout: LONGEST_MS, env: {} };
  const { stdout } = await run(process.execPath, [BUNDLE], options);
  return Buffer.from(stdout);
}
