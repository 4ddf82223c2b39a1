import { spawnSync } from 'node:child_process';

/** Everything that can be checked without running the product, in seconds. Stops at the first step that fails. */
const STEPS = [
  ['format', 'oxfmt', ['--check']],
  ['lint', 'oxlint', ['--type-aware', '--deny-warnings']],
  ['types', 'tsc', ['-p', 'tsconfig.json']],
];

for (const [name, command, args] of STEPS) {
  const started = performance.now();
  const { status } = spawnSync(`node_modules/.bin/${command}`, args, { stdio: 'inherit' });
  if (status !== 0) {
    console.error(`check: ${name} failed`);
    process.exit(1);
  }
  console.log(`check: ${name} ok in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
