import { fileURLToPath } from 'node:url';
import { prepare, runsHere } from './lib/prepare.mjs';
import { run } from './lib/run.mjs';
import { main } from './lib/step.mjs';

/** `npm run roll -- [COMMIT]`: three webs and three backends of that version are exchanged for this one under load, one by one. */
await main(async () => {
  const node = await prepare({ dev: true });
  const args = process.argv.slice(2);
  if (!runsHere()) process.exit((await run(node, [fileURLToPath(import.meta.url), ...args])).code);
  const { runRoll } = await import('./lib/roll.ts');
  process.exit(await runRoll(args));
});
