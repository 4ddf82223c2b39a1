import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
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

/** Between two who are given it: its megabytes for each of hundreds who come together would keep the loop for a second. */
const GAP_MS = 5;

/** Read at the first request, then kept. */
export function createRuntimeProgram(): RuntimeProgram {
  let made: Promise<Buffer> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return async () => {
    const program = await (made ??= readFile(MADE)
      .catch(bundled)
      .catch((error: unknown) => {
        made = undefined;
        throw error;
      }));
    const before = last;
    last = before.then(() => delay(GAP_MS));
    await before;
    return program;
  };
}

/** Where the platform runs from its sources alone. Elsewhere: the bundler would keep 400 MB of this process for good. */
async function bundled(): Promise<Buffer> {
  const options = { maxBuffer: MOST_BYTES, timeout: LONGEST_MS, env: {} };
  const { stdout } = await run(process.execPath, [BUNDLE], options);
  return Buffer.from(stdout);
}
