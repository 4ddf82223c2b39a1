/** What a file is, by its bytes and not by its name. For threads: it is computed there. */

/** Of a file that is looked into as a whole. */
export const MAX_LOOKED_INTO = 25 * 1024 * 1024;

/** By their first bytes, in hexadecimal digits. */
const PICTURES: [mime: string, sign: RegExp][] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^474946383[79]61/],
  ['image/webp', /^52494646.{8}57454250/],
];

export function pictureType(bytes: Buffer): string | undefined {
  const first = bytes.subarray(0, 16).toString('hex');
  return PICTURES.find(([, sign]) => sign.test(first))?.[0];
}

export const isPdf = (bytes: Buffer): boolean => bytes.subarray(0, 1024).includes('%PDF-');

/** Undefined: these are no letters. */
export function textOf(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
