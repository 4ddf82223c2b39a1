import { policy as texts } from '../../texts/policy.ts';

export const LIMITS = ['perPayment', 'perDay', 'perPayee', 'approvalAbove'] as const;
type Field = (typeof LIMITS)[number] | 'payees';

/** What the contract refuses, in words for people: its own speak of null, and do not say which payee. */
export function policyWords(
  refused: Readonly<Record<string, string>>,
  payees: readonly string[],
): Partial<Record<Field, string>> {
  const words: Partial<Record<Field, string>> = {};
  for (const path of Object.keys(refused)) {
    const [field, index] = path.split('.') as [Field, string | undefined];
    const payee = payees[Number(index)];
    if (field === 'payees') words.payees ??= payee === undefined ? texts.badPayees : texts.badPayee(payee);
    else if (LIMITS.includes(field)) words[field] = texts.badAmount;
  }
  return words;
}
