import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';

/**
 * `text.charCodeAt(index)`. Looked up on each string anew it took 40 % of the time: strings have more internal shapes
 * (one or two bytes, cut, joined) than the engine remembers for one place in the code.
 */
// oxlint-disable-next-line typescript/unbound-method -- `call` binds it
export const codeAt = Function.prototype.call.bind(String.prototype.charCodeAt) as (
  text: string,
  index: number,
) => number;

export const decodeText = (raw: string): string => (raw.includes('&') ? decodeHTML(raw) : raw);

export const decodeAttribute = (raw: string): string => (raw.includes('&') ? decodeHTMLAttribute(raw) : raw);

export const collapse = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** At most `max` characters, never half of one. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const code = text.charCodeAt(max - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? max - 1 : max);
}

/** Text that is collected in parts and is of no use beyond `max` characters. */
export interface Capture {
  add: (text: string) => void;
  /** The text with white space collapsed; cut when there was more. */
  take: () => string;
}

const COLLAPSE_AT = 16_384;

export function createCapture(max: number): Capture {
  let text = '';
  let full = false;
  return {
    add(part) {
      if (full) return;
      text += part;
      if (text.length <= COLLAPSE_AT) return;
      text = text.replace(/\s+/g, ' ');
      full = text.length > max + 2;
    },
    take: () => cut(collapse(text), max),
  };
}

/** Counts words over parts of a text: what white space separates. */
export interface WordCounter {
  add: (text: string) => void;
  /** The next part begins a new word. */
  separate: () => void;
  count: () => number;
}

export function createWordCounter(): WordCounter {
  let words = 0;
  let inWord = false;
  return {
    add(text) {
      let inside = inWord;
      const length = text.length;
      for (let i = 0; i < length; i += 1) {
        if (isWhite(codeAt(text, i))) inside = false;
        else if (!inside) {
          inside = true;
          words += 1;
        }
      }
      inWord = inside;
    },
    separate() {
      inWord = false;
    },
    count: () => words,
  };
}

/** The white space of `\s`, and the zero-width space: it separates words and shows nothing. */
function isWhite(code: number): boolean {
  if (code <= 32) return code === 32 || (code > 8 && code < 14);
  if (code < 160) return false;
  if (code === 160) return true;
  if (code < 0x1680) return false;
  return (
    (code >= 0x2000 && code <= 0x200b) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff ||
    code === 0x1680
  );
}
