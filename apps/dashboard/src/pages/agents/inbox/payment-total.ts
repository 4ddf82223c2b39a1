import { formatAmount, parseAmount } from '@troupe/domain';
import { exactMoney } from '../../../format.ts';
import { inbox as texts } from '../../../texts/access.ts';

const DECIMALS = 6;
const units = (amount: string): bigint => parseAmount(amount, DECIMALS) ?? 0n;
const shown = (amount: bigint): string => exactMoney(formatAmount(amount, DECIMALS));

/** What a day comes to with a payment, and what would be left of its limit. */
export function totalWith(amount: string, { perDay, spent }: { perDay: string | null; spent: string }): string {
  const total = units(spent) + units(amount);
  if (perDay === null) return texts.total(shown(total));
  const limit = units(perDay);
  return total > limit
    ? texts.totalOver(shown(total), shown(limit))
    : texts.totalLeft(shown(total), shown(limit), shown(limit - total));
}
