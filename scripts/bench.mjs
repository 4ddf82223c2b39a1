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

/**
 * `npm run bench -- NAME`: sets up what is missing, then runs bench/NAME.ts; `all` runs one after the other. With `--keep`
 * what was found goes to bench/results.json and docs/benchmarks.md.
 */
await main(async () => {
  const names = readdirSync(BENCH)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length));
  const keep = process.argv.includes('--keep');
  const [name = '', ...args] = process.argv.slice(2).filter((arg) => arg !== '--keep');
  if (name !== 'all' && !names.includes(name)) throw new Stop(`Which one? npm run bench -- all | ${names.join(' | ')}`);
  const node = await prepare({ dev: true });
  await installPeers(node);
  const env = { ...process.env, ...(keep && { BENCH_KEEP: '1' }) };
  /** @type {string[]} */
  const missed = [];
  for (const each of name === 'all' ? names : [name]) {
    if (name === 'all') console.log(`\n== ${each}`);
    const { code, interrupted } = await run(node, [path.join(BENCH, `${each}.ts`), ...args], { env });
    if (interrupted) process.exit(code);
    if (code !== 0) missed.push(each);
  }
  if (keep) await run(node, [path.join(ROOT, 'scripts/bench-docs.ts')]);
  if (name === 'all')
    console.log(`\n${names.length} benches${missed.length > 0 ? `, not met: ${missed.join(', ')}` : ', all met'}`);
  process.exit(missed.length > 0 ? 1 : 0);
});
