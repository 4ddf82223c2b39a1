import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** The agent runtime as one file, so that a machine needs nothing but Node to run it. */
export type RuntimeProgram = () => Promise<string>;

const ENTRY = fileURLToPath(new URL('../../../../agent/src/main.ts', import.meta.url));

/** Put together at the first request, then kept. */
export function createRuntimeProgram(): RuntimeProgram {
  let made: Promise<string> | undefined;
  return () => (made ??= bundle());
}

async function bundle(): Promise<string> {
  const build = await rolldown({ input: ENTRY, platform: 'node', logLevel: 'silent' });
  try {
    const { output } = await build.generate({ format: 'esm', codeSplitting: false });
    return output[0].code;
  } finally {
    await build.close();
  }
}
