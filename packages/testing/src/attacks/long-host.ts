const FIRST = 0x4e00;
const KINDS = 20_000;

/** An address whose host has so many letters of other scripts, of as many kinds as there are. */
export const longHost = (letters: number): string =>
  `https://${Array.from({ length: letters }, (_, n) => String.fromCodePoint(FIRST + (n % KINDS))).join('')}/`;
