import { fileURLToPath } from 'node:url';
import { prepare, runsHere } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';
import { main } from './lib/step.mjs';

/** `npm start`: sets up what is missing, then runs the embedded profile. */
await main(async () => {
  const node = await prepare({ dev: false });
  const platform = new URL('../apps/platform/src/main.ts', import.meta.url);
  // in this very process when it can: a second one would cost memory for nothing
  if (runsHere()) await import(platform.href);
  else process.exit((await run(node, [fileURLToPath(platform)])).code);
});
