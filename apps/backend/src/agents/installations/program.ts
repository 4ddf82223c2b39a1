import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The agent runtime as one file, so that a machine needs nothing but Node to run it. */
export type RuntimeProgram = () => Promise<string>;

const BUNDLE = fileURLToPath(new URL('./bundle.ts', import.meta.url));
const MOST_BYTES = 64 * 1024 * 1024;
const LONGEST_MS = 120_000;

const run = promisify(execFile);

/** Put together at the first request, then kept. Elsewhere: the bundler would keep 400 MB of this process for good. */
export function createRuntimeProgram(): RuntimeProgram {
  let made: Promise<string> | undefined;
  return () =>
    (made ??= bundled().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}

async function bundled(): Promise<string> {
  const options = { maxBuffer: MOST_BYTES, timeout: LONGEST_MS, env: {} };
  const { stdout } = await run(process.execPath, [BUNDLE], options);
  return stdout;
}
