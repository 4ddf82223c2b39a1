import { formatAmount, parseAmount, splitByLargestRemainder } from './money.ts';

/** Shares of a whole in percent, which sum to 100, give or take 0.01. */

/** As many digits as a number between 0 and 100 can have. */
const SHARE_DECIMALS = 18;
const SCALE = 10n ** BigInt(SHARE_DECIMALS);
const TOLERANCE = SCALE / 100n;

/** A share as an exact integer: sums of fractions in binary would miss the tolerance's edge. Null: it is none. */
export function parseShare(share: number): bigint | null {
  const units = parseAmount(String(share), SHARE_DECIMALS);
  return units !== null && units > 0n && units <= 100n * SCALE ? units : null;
}

export function splitShares(total: bigint, shares: readonly bigint[]): { parts: bigint[] } | { refused: string } {
  const sum = shares.reduce((a, b) => a + b, 0n);
  const off = sum - 100n * SCALE;
  if (off > TOLERANCE || off < -TOLERANCE)
    return { refused: `Recipient shares must total 100% (got ${formatAmount(sum, SHARE_DECIMALS, 0)}%)` };
  return { parts: splitByLargestRemainder(total, shares) };
}
