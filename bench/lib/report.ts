import { isMet, keepResult, type Target } from './results.ts';

/** How a bench says what it found: tables for people, and a last line for programs. */

export type Row = Record<string, string | number>;

export function printTable(title: string, rows: readonly Row[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const texts = rows.map((row) => columns.map((column) => format(row[column] ?? '')));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...texts.map((cells) => cells[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ');
  console.log(`\n${title}\n${line(columns)}\n${widths.map((width) => '-'.repeat(width)).join('  ')}`);
  for (const cells of texts) console.log(line(cells));
}

/** What never came is kept as null: JSON knows no endless number. */
export const format = (value: string | number | null): string =>
  typeof value === 'string'
    ? value
    : value === null || value === Infinity
      ? 'never'
      : value >= 100
        ? value.toFixed(0)
        : value.toFixed(value < 10 ? 2 : 1);

/**
 * Prints the targets and the last line `bench NAME: key=value …`; a target that was missed makes the exit code 1. What was
 * found is kept for docs/benchmarks.md when the run was asked to.
 */
export function finish(name: string, targets: readonly Target[], others: Readonly<Record<string, number>> = {}): void {
  printTable(
    'Targets',
    targets.map((target) => ({
      figure: target.figure,
      measured: target.value,
      target: target.atLeast === undefined ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`,
      result: isMet(target) ? 'met' : 'MISSED',
    })),
  );
  const figures = [...targets.map(({ figure, value }) => [figure, value] as const), ...Object.entries(others)];
  console.log(`\nbench ${name}: ${figures.map(([figure, value]) => `${figure}=${format(value)}`).join(' ')}`);
  if (!targets.every(isMet)) process.exitCode = 1;
  keepResult(name, targets, others);
}
