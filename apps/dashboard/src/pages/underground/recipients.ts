import { numberOf } from '../../checks.ts';

/** An address and its share a line; what is between them may be spaces, a comma or a semicolon. */
export const readRecipients = (text: string): { address: string; share: number }[] =>
  text.split('\n').flatMap((line) => {
    const [address, share = ''] = line.trim().split(/[\s,;]+/);
    return address ? [{ address, share: numberOf(share) }] : [];
  });
