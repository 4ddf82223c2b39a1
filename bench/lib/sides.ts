/** A function for each side, doing the same work once. */
export type Sides<Name extends string> = Record<Name, () => unknown>;

export interface SideOptions {
  rounds?: number;
  /** Length of one side's part of a round. */
  milliseconds?: number;
}

/**
 * Runs the sides in many short turns, so that whatever else the machine does hits all of them, and gives the median of each side's
 * rounds as operations a second. The first round warms up and does not count.
 */
export async function sideBySide<Name extends string>(
  sides: Sides<Name>,
  { rounds = 15, milliseconds = 120 }: SideOptions = {},
): Promise<Record<Name, number>> {
  const entries = Object.entries(sides) as [Name, () => unknown][];
  const found = new Map<Name, number[]>(entries.map(([name]) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, work] of entries) {
      const rate = await rateOf(work, milliseconds);
      if (round > 0) found.get(name)?.push(rate);
    }
  }
  return Object.fromEntries(entries.map(([name]) => [name, median(found.get(name) ?? [])])) as Record<Name, number>;
}

async function rateOf(work: () => unknown, milliseconds: number): Promise<number> {
  const started = performance.now();
  let done = 0;
  let elapsed = 0;
  do {
    await work();
    done += 1;
    elapsed = performance.now() - started;
  } while (elapsed < milliseconds);
  return (done / elapsed) * 1000;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** What was measured of two sides in the same rounds, for a target. */
export const against = (
  side: readonly number[],
  other: readonly number[],
): { value: number; ours: number; theirs: number; rounds: number[] } => ({
  value: pairedRatio(side, other),
  ours: median(side),
  theirs: median(other),
  rounds: ratios(side, other),
});

const ratios = (side: readonly number[], other: readonly number[]): number[] =>
  side.map((value, round) => value / (other[round] ?? Number.NaN));

/** The median over the rounds, each side compared with its neighbour in time: whatever else the machine does hits both. */
export const pairedRatio = (side: readonly number[], other: readonly number[]): number => median(ratios(side, other));
