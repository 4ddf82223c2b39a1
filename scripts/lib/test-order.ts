import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './run.mjs';
import usual from './test-times.json' with { type: 'json' };

/** How many milliseconds each file took when it was last run on this machine. */
const TIMES_FILE = path.join(ROOT, '.runtime/test-times.json');
const SECOND_MS = 1000;

type TimeOf = (files: readonly string[]) => number;

/**
 * How long files take: here, or where nothing has run yet as in test-times.json, which has what is slow. `atMost`: the
 * longer of both, since a file that was skipped here took no time.
 */
export function knownTimes(): { timeOf: TimeOf; atMost: TimeOf } {
  const here = readTimes();
  const elsewhere: Record<string, number> = usual;
  const there = (file: string): number => (elsewhere[file] ?? 1) * SECOND_MS;
  const summed =
    (one: (file: string) => number): TimeOf =>
    (files) =>
      files.reduce((sum, file) => sum + one(file), 0);
  return {
    timeOf: summed((file) => here[file] ?? there(file)),
    atMost: summed((file) => Math.max(here[file] ?? 0, there(file))),
  };
}

/** Slowest first: what is begun last must not be what everybody then waits for. */
export const slowestFirst = <Item>(items: readonly Item[], timeOf: (item: Item) => number): Item[] =>
  items.toSorted((a, b) => timeOf(b) - timeOf(a));

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
