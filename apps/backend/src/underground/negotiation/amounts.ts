import { parseAmount } from '@troupe/domain';
import { USD_DECIMALS } from '@troupe/ledger';

/** Above this, sums could leave the range of a database integer. */
const MAX_UNITS = 10n ** 15n;

/** Dollars as a plain decimal, text or number, in millionths; null when it is none, or too much. */
export function dollars(value: string | number): bigint | null {
  const units = parseAmount(String(value), USD_DECIMALS);
  return units === null || units > MAX_UNITS ? null : units;
}
