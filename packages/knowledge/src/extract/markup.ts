import { decodeHTML } from 'entities/decode';

/** Tags and text of HTML and XML in one pass. It builds no tree and knows no entities of the document's own. */
export type Token =
  | { kind: 'open' | 'close'; name: string; attributes: string; empty: boolean }
  | { kind: 'text'; text: string };

const MAX_TAG = 8192;
const isNameEnd = (code: number): boolean => code <= 32 || code === 47 || code === 62;

/** The `>` that ends a tag, outside of quotes. */
function endOfTag(text: string, from: number): number {
  let quote = 0;
  const most = Math.min(text.length, from + MAX_TAG);
  for (let at = from; at < most; at += 1) {
    const code = text.charCodeAt(at);
    if (quote !== 0) quote = code === quote ? 0 : quote;
    else if (code === 62) return at;
    // Another one begins: this was none.
    else if (code === 60) return -1;
    // A quote that is no value's is a letter like others.
    else if ((code === 34 || code === 39) && text.charCodeAt(at - 1) === 61) quote = code;
  }
  return -1;
}

/** `raw`: elements whose content is no markup, and no text for anybody. */
export function* tokensOf(text: string, raw: ReadonlySet<string> = new Set()): Generator<Token> {
  for (let at = 0; at < text.length;) {
    const open = text.indexOf('<', at);
    if (open !== at) yield { kind: 'text', text: text.slice(at, open < 0 ? text.length : open) };
    if (open < 0) return;
    if (text.startsWith('<!--', open)) {
      const end = text.indexOf('-->', open + 4);
      at = end < 0 ? text.length : end + 3;
      continue;
    }
    if (text.startsWith('<![CDATA[', open)) {
      const end = text.indexOf(']]>', open);
      yield { kind: 'text', text: text.slice(open + 9, end < 0 ? text.length : end).replaceAll('&', '&amp;') };
      at = end < 0 ? text.length : end + 3;
      continue;
    }
    const code = text.charCodeAt(open + 1);
    const isTag = code === 47 || code === 33 || code === 63 || ((code | 32) >= 97 && (code | 32) <= 122);
    const end = isTag ? endOfTag(text, open + 1) : -1;
    if (end < 0) {
      yield { kind: 'text', text: '<' };
      at = open + 1;
      continue;
    }
    at = end + 1;
    if (code === 33 || code === 63) continue;
    const token = tagOf(text, open, end);
    yield token;
    if (token.kind === 'open' && !token.empty && raw.has(token.name)) at = afterRaw(text, at, token.name);
  }
}

function tagOf(text: string, open: number, end: number): Extract<Token, { name: string }> {
  const isClose = text.charCodeAt(open + 1) === 47;
  const start = open + (isClose ? 2 : 1);
  let stop = start;
  while (stop < end && !isNameEnd(text.charCodeAt(stop))) stop += 1;
  const name = text.slice(start, stop).toLowerCase();
  return {
    kind: isClose ? 'close' : 'open',
    name,
    attributes: text.slice(stop, end),
    empty: text.charCodeAt(end - 1) === 47,
  };
}

function afterRaw(text: string, from: number, name: string): number {
  for (let at = text.indexOf('</', from); at >= 0; at = text.indexOf('</', at + 2))
    if (text.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return at;
  return text.length;
}

export const decoded = (text: string): string => (text.includes('&') ? decodeHTML(text) : text);

/** The value of an attribute; names are those of our own code. */
export function attribute(attributes: string, name: string): string | undefined {
  const at = ` ${attributes}`.search(ATTRIBUTES[name]!);
  if (at < 0) return undefined;
  const [, double, single, bare] = /=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/.exec(` ${attributes}`.slice(at)) ?? [];
  return decoded(double ?? single ?? bare ?? '');
}

const ATTRIBUTES: Readonly<Record<string, RegExp>> = {
  'w:val': /\sw:val\s*=/i,
  name: /\sname\s*=/i,
  'r:id': /\sr:id\s*=/i,
  id: /\sid\s*=/i,
  target: /\starget\s*=/i,
  r: /\sr\s*=/i,
  t: /\st\s*=/i,
  s: /\ss\s*=/i,
  type: /\stype\s*=/i,
  numfmtid: /\snumfmtid\s*=/i,
  formatcode: /\sformatcode\s*=/i,
};
