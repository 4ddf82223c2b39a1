import { fileURLToPath } from 'node:url';
import { prepare, runsHere } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';
import { main } from './lib/step.mjs';

/** `npm run soak -- MINUTES`: load on several processes with nothing wrong, and a look at what grows. */
await main(async () => {
  const node = await prepare({ dev: true });
  const args = process.argv.slice(2);
  if (!runsHere()) process.exit((await run(node, [fileURLToPath(import.meta.url), ...args])).code);
  const { runSoak } = await import('./lib/soak.ts');
  process.exit(await runSoak(args));
});
