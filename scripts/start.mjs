import module from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare, runsHere } from './lib/prepare.mjs';
import { ROOT, run } from './lib/run.mjs';
import { main } from './lib/step.mjs';

/** `npm start`: sets up what is missing, then runs the embedded profile. */
await main(async () => {
  const node = await prepare({ dev: false });
  const platform = new URL('../apps/platform/src/main.ts', import.meta.url);
  if (!runsHere()) process.exit((await run(node, [fileURLToPath(platform)])).code);
  // keeps the code without its types and compiled: a later start need not do either again
  module.enableCompileCache(path.join(ROOT, '.runtime/cache'));
  await import(platform.href);
});
