/** Money: integers of the smallest unit inside, decimal strings outside. */

const AMOUNT = /^(\d{1,40})(?:\.(\d{1,40}))?$/;

/** '1.25' with 6 decimals → 1250000n; null when it is no plain non-negative decimal of at most that many places. */
export function parseAmount(text: string, decimals: number): bigint | null {
  const match = AMOUNT.exec(text);
  if (!match || (match[2] ?? '').length > decimals) return null;
  return BigInt(match[1]!) * 10n ** BigInt(decimals) + BigInt((match[2] ?? '').padEnd(decimals, '0') || '0');
}

/** 1250000n with 6 decimals → '1.25'; at least `places` digits after the point. */
export function formatAmount(units: bigint, decimals: number, places = 2): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(places, '0');
  const whole = digits.slice(0, digits.length - decimals);
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Splits `total` by weights so that the parts sum to it exactly: largest remainder first, earlier ones win ties. */
export function splitByLargestRemainder(total: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((a, b) => a + b, 0n);
  if (sum <= 0n) throw new RangeError('weights must sum to more than zero');
  const parts = weights.map((weight) => (total * weight) / sum);
  const left = Number(total - parts.reduce((a, b) => a + b, 0n));
  const order = weights
    .map((weight, index) => ({ index, rest: (total * weight) % sum }))
    .sort((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest > b.rest ? -1 : 1));
  for (const { index } of order.slice(0, left)) parts[index]! += 1n;
  return parts;
}
