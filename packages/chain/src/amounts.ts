/** Decimals of USDC, and of a dollar wherever money is counted. */
export const USDC_DECIMALS = 6;
const TEXT = /^\d{1,30}(?:\.\d{1,60})?$/;
/** More than exists of any stablecoin, and still exact as a number. */
const MAX_NUMBER = 1e9;

/**
 * An amount of USDC in millionths, rounded to the nearest; null for what is no positive finite amount, or rounds to
 * nothing. Text must be plain digits: no sign, space, comma or exponent.
 */
export function parseUsdc(amount: unknown): bigint | null {
  const text = typeof amount === 'number' ? numberText(amount) : amount;
  if (typeof text !== 'string' || !TEXT.test(text)) return null;
  const [whole = '', fraction = ''] = text.split('.');
  const digits = BigInt(whole + fraction.slice(0, USDC_DECIMALS).padEnd(USDC_DECIMALS, '0'));
  const units = Number(fraction[USDC_DECIMALS] ?? '0') >= 5 ? digits + 1n : digits;
  return units > 0n ? units : null;
}

const numberText = (amount: number): string | null =>
  Number.isFinite(amount) && amount > 0 && amount <= MAX_NUMBER ? amount.toFixed(18) : null;
