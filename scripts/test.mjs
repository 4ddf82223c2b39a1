import { fileURLToPath } from 'node:url';
import { prepare, runsHere } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';
import { main } from './lib/step.mjs';

/** `npm test`: sets up what is missing, then checks and tests everything, or the files that are named. */
await main(async () => {
  const node = await prepare({ dev: true });
  const args = process.argv.slice(2);
  if (!runsHere()) process.exit((await run(node, [fileURLToPath(import.meta.url), ...args])).code);
  const { runTests } = await import('./lib/tests.ts');
  process.exit(await runTests(args));
});
