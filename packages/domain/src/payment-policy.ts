/** What an agent may spend, in millionths of a dollar; null: no limit. */
export interface PaymentLimits {
  perPayment: bigint | null;
  perDay: bigint | null;
  /** To one payee in a day. */
  perPayee: bigint | null;
  /** Only these are paid; null: anybody. */
  payees: readonly string[] | null;
}

/** Payments that count against the limits: made, under way, or perhaps made. */
export const COUNTED_PAYMENTS = ['pending', 'paid', 'unknown'] as const;

/** EVM addresses in any case; elsewhere case counts. */
export const isSamePayee = (a: string, b: string): boolean =>
  a === b || (a.startsWith('0x') && a.toLowerCase() === b.toLowerCase());

/** Why a payment may not be made; `spent` is what was spent in the day before. Null: it may. */
export function paymentRefusal(
  { perPayment, perDay, perPayee, payees }: PaymentLimits,
  { units, recipient }: { units: bigint; recipient: string },
  spent: { all: bigint; toPayee: bigint },
): string | null {
  if (payees !== null && !payees.some((payee) => isSamePayee(payee, recipient)))
    return 'Recipient not allowed for the agent';
  const exceeds = (limit: bigint | null, total: bigint) => limit !== null && total > limit;
  return exceeds(perPayment, units) || exceeds(perDay, spent.all + units) || exceeds(perPayee, spent.toPayee + units)
    ? 'Payment exceeds the limit of the agent'
    : null;
}
