import { fileURLToPath } from 'node:url';
import { prepare, runsHere } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';
import { main } from './lib/step.mjs';

/** `npm run faults -- N [seed]`: N rounds of load on several processes, each with one fault, and a look for every write. */
await main(async () => {
  const node = await prepare({ dev: true });
  const args = process.argv.slice(2);
  if (!runsHere()) process.exit((await run(node, [fileURLToPath(import.meta.url), ...args])).code);
  const { runFaults } = await import('./lib/faults.ts');
  process.exit(await runFaults(args));
});
