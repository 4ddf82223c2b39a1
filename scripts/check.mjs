import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { prepare, runsHere } from './lib/prepare.mjs';
import { ROOT, run } from './lib/run.mjs';
import { main, Stop } from './lib/step.mjs';

/**
 * What the compiler found is kept: the next check looks only at what has changed since, and at what that reaches.
 * @param {string} name
 */
const remembered = (name) => ['--incremental', '--tsBuildInfoFile', path.join(ROOT, `.runtime/${name}.tsbuildinfo`)];

/**
 * `npm run check`: everything that can be checked without running the product, in seconds.
 * @type {readonly (readonly [name: string, command: string, args: readonly string[]])[]}
 */
const STEPS = [
  ['lint', 'oxlint', ['--type-aware', '--deny-warnings']],
  ['types', 'tsc', ['-p', 'tsconfig.json', ...remembered('types')]],
  ['types of the dashboard', 'tsc', ['-p', 'apps/dashboard/tsconfig.json', ...remembered('types-dashboard')]],
  ['unused code', 'knip', ['--no-config-hints']],
  ['architecture', 'node', ['--test', '--test-reporter=dot', 'tests/*.test.ts']],
  ['format', 'oxfmt', ['--check']],
];

/**
 * @param {string} node
 * @param {readonly string[]} without what somebody else looks at
 */
export async function check(node, without = []) {
  const waiting = STEPS.filter(([name]) => !without.includes(name));
  /** @type {string[]} */
  const failed = [];
  const bin = path.join(ROOT, 'node_modules/.bin');
  const env = { ...process.env, PATH: [path.dirname(node), process.env['PATH']].join(path.delimiter) };
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, command, args] = next;
      const started = performance.now();
      const program = command === 'node' ? node : path.join(bin, command);
      const { code, output } = await run(program, args, { env, quiet: true });
      if (code === 0) console.log(`check: ${name} ok in ${((performance.now() - started) / 1000).toFixed(1)} s`);
      else {
        failed.push(name);
        console.error(`${output.trim()}\ncheck: ${name} failed`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
  if (failed.length > 0) throw new Stop(`check: ${failed.join(', ')} failed`);
}

if (process.argv[1]?.endsWith('check.mjs')) {
  const ready = runsHere() && existsSync(path.join(ROOT, 'node_modules/.bin/tsc'));
  await main(async () => check(ready ? process.execPath : await prepare({ dev: true })));
}
