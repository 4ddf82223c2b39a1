import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface Locked {
  optionalDependencies?: Record<string, string>;
}

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Locked>;
};

test('the lock file names every optional binary, so that npm ci works on every platform', () => {
  const locked = new Set(Object.keys(lock.packages).map((key) => key.replace(/^.*node_modules\//, '')));
  const wanted = Object.values(lock.packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
  assert.ok(wanted.length > 50);
  assert.deepEqual(
    wanted.filter((name) => !locked.has(name)),
    [],
    'run node scripts/complete-lock.mjs',
  );
});
