import { fileURLToPath } from 'node:url';
import { prepare, runsHere } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';
import { main } from './lib/step.mjs';

/** `npm run fuzz -- N [seed [only]]`: sends N requests made from the contract to a platform of its own. */
await main(async () => {
  const node = await prepare({ dev: true });
  const args = process.argv.slice(2);
  if (!runsHere()) process.exit((await run(node, [fileURLToPath(import.meta.url), ...args])).code);
  const { runFuzz } = await import('./lib/fuzz.ts');
  process.exit(await runFuzz(args));
});
