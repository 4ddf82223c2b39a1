import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './run.mjs';
import usual from './test-times.json' with { type: 'json' };

/** How many milliseconds each file took when it was last run on this machine. */
const TIMES_FILE = path.join(ROOT, '.runtime/test-times.json');
const SECOND_MS = 1000;

/** How long files take: here, or where nothing has run yet as in test-times.json, which has what is slow. */
export function knownTimes(): (files: readonly string[]) => number {
  const here = readTimes();
  const elsewhere: Record<string, number> = usual;
  const timeOf = (file: string): number => here[file] ?? (elsewhere[file] ?? 1) * SECOND_MS;
  return (files) => files.reduce((sum, file) => sum + timeOf(file), 0);
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
