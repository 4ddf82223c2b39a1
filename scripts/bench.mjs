import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { npm } from './lib/npm.mjs';
import { prepare } from './lib/prepare.mjs';
import { ROOT, run } from './lib/run.mjs';
import { main, step, Stop } from './lib/step.mjs';

const BENCH = path.join(ROOT, 'bench');

/**
 * What we are measured against is installed only here, and only when its lock file changed.
 * @param {string} node
 */
async function installPeers(node) {
  const stampFile = path.join(BENCH, 'node_modules/.stamp');
  const stamp = createHash('sha256')
    .update(readFileSync(path.join(BENCH, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  await step('Installing what is measured against', () => npm(node, ['ci', '--prefix', BENCH]));
  writeFileSync(stampFile, stamp);
}

/** `npm run bench -- NAME`: sets up what is missing, then runs bench/NAME.ts. */
await main(async () => {
  const names = readdirSync(BENCH)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length));
  const [name = '', ...args] = process.argv.slice(2);
  if (!names.includes(name)) throw new Stop(`Which one? npm run bench -- ${names.join(' | ')}`);
  const node = await prepare({ dev: true });
  await installPeers(node);
  process.exit((await run(node, [path.join(BENCH, `${name}.ts`), ...args])).code);
});
