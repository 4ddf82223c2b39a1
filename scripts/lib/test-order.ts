import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './run.mjs';

/** How long each file took when it was last run on this machine. */
const TIMES_FILE = path.join(ROOT, '.runtime/test-times.json');

/**
 * What is slow on any machine, slowest first, for one where nothing has run yet. The browser's tests come first and keep
 * one place busy for as long as those with containers, which are slow beside each other, follow one another in the next.
 */
const SLOW = [
  'tests/e2e/',
  'tests/deploy/',
  'tests/swarm/',
  'tests/faults/swarm',
  'tests/faults/docker',
  'packages/fleet/src/docker/',
  'tests/fuzz/',
  'tests/authorization/',
  'tests/attacks/',
  'tests/faults/',
  'tests/spec/',
];

/** Slowest first: what is begun last must not be what everybody then waits for. */
export function slowestFirst(files: readonly string[]): string[] {
  const times = readTimes();
  const rank = (file: string): number => {
    const at = SLOW.findIndex((start) => file.startsWith(start));
    return at === -1 ? SLOW.length : at;
  };
  const known = (file: string): number => times[file] ?? Number.POSITIVE_INFINITY;
  return files.toSorted((a, b) => (known(a) === known(b) ? rank(a) - rank(b) : known(b) - known(a)));
}

export function keepTimes(times: ReadonlyMap<string, number>): void {
  const all = { ...readTimes(), ...Object.fromEntries([...times].map(([file, ms]) => [file, Math.round(ms)])) };
  writeFileSync(TIMES_FILE, JSON.stringify(all, null, 1));
}

function readTimes(): Record<string, number> {
  if (!existsSync(TIMES_FILE)) return {};
  try {
    return JSON.parse(readFileSync(TIMES_FILE, 'utf8')) as Record<string, number>;
  } catch {
    // A run that was killed while it wrote: as if there had been none.
    return {};
  }
}
