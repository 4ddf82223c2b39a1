import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';

/** What each bench found when it was last run with `--keep`: docs/benchmarks.md is printed from it. */

export const RESULTS_FILE = new URL('../results.json', import.meta.url);

export interface Target {
  figure: string;
  value: number;
  atLeast?: number;
  atMost?: number;
  /** Where it is a ratio: what was measured on both sides, and what each round gave. */
  ours?: number;
  theirs?: number;
  rounds?: readonly number[];
}

export const isMet = ({ value, atLeast = -Infinity, atMost = Infinity }: Target): boolean =>
  value >= atLeast && value <= atMost;

export interface KeptTarget extends Omit<Target, 'rounds'> {
  /** Of the rounds: the lowest, the highest, and how many they were. */
  spread?: [lowest: number, highest: number, rounds: number];
}

export interface Result {
  date: string;
  machine: string;
  targets: KeptTarget[];
  others: Record<string, number>;
}

export function readResults(): Record<string, Result> {
  return existsSync(RESULTS_FILE) ? (JSON.parse(readFileSync(RESULTS_FILE, 'utf8')) as Record<string, Result>) : {};
}

export function keepResult(name: string, targets: readonly Target[], others: Readonly<Record<string, number>>): void {
  if (process.env['BENCH_KEEP'] !== '1') return;
  const results = readResults();
  results[name] = {
    date: new Date().toISOString().slice(0, 10),
    machine: machine(),
    targets: targets.map(kept),
    others: Object.fromEntries(Object.entries(others).map(([figure, value]) => [figure, rounded(value)])),
  };
  const sorted = Object.fromEntries(Object.entries(results).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(RESULTS_FILE, `${JSON.stringify(sorted, null, 2)}\n`);
}

function kept({ figure, value, atLeast, atMost, ours, theirs, rounds }: Target): KeptTarget {
  return {
    figure,
    value: rounded(value),
    ...(atLeast !== undefined && { atLeast }),
    ...(atMost !== undefined && { atMost }),
    ...(ours !== undefined && { ours: rounded(ours) }),
    ...(theirs !== undefined && { theirs: rounded(theirs) }),
    ...(rounds && { spread: [rounded(Math.min(...rounds)), rounded(Math.max(...rounds)), rounds.length] }),
  };
}

const rounded = (value: number): number => Number(value.toPrecision(4));

function machine(): string {
  const found = cpus();
  const model = found[0]?.model.trim() ?? '';
  const memory = Math.round(totalmem() / 2 ** 30);
  const named = model === '' || model === 'unknown' ? '' : ` ${model}`;
  return `${found.length} cores${named} (${process.arch}), ${memory} GB, Linux ${release().split('-')[0]}, Node ${process.versions.node}`;
}
