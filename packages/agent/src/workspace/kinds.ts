import { constants, inflateSync } from 'node:zlib';
import { pdfPages } from '@troupe/knowledge/pdf';

/** What a file is, by its bytes and not by its name. Loaded by threads: it is computed there. */

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

/** The words of a PDF page by page, about `most` characters; `note`: why there are none. */
export function pagesOf(bytes: Buffer, most: number): { pages: string[]; more: boolean; note?: string } {
  // One that is cut off gives what it has.
  const inflate = (packed: Buffer, room: number): Buffer =>
    inflateSync(packed, { maxOutputLength: Math.max(1, room), finishFlush: constants.Z_SYNC_FLUSH });
  try {
    const { pages, more, locked } = pdfPages(bytes, inflate, most);
    const said = pages.map((page) => page.toWellFormed());
    if (locked) return none('The PDF is locked by a password: its text cannot be read.');
    return said.some(Boolean)
      ? { pages: said, more }
      : none(`The PDF has ${pages.length} pages and no text: it may be scanned.`);
  } catch (error) {
    return none(`The PDF cannot be read: ${(error as Error).message.slice(0, 200)}`);
  }
}

const none = (note: string) => ({ pages: [], more: false, note });
