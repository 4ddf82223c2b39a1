import { codeAt } from './text.ts';

/**
 * A streaming HTML scanner: text, start tags and end tags, in one pass and with bounded memory. It builds no tree and
 * keeps no stack, so nesting costs nothing; whatever is cut by the end of a piece is resumed, never scanned again.
 */

export interface Handler {
  /** Text between tags as written: entities are not decoded. One text may come in several parts. */
  text: (raw: string) => void;
  /** `attributes` is what stands between the name and the `>`; read it with `readAttributes`. */
  open: (name: string, attributes: string) => void;
  close: (name: string) => void;
  /** The content of a `title` outside of drawings, as written. */
  title: (raw: string) => void;
}

export interface Scanner {
  write: (piece: string) => void;
  end: () => void;
}

/** Of a longer tag only the beginning is kept. */
const MAX_TAG = 65_536;
const MAX_TITLE = 4_096;
/** The longest named entity has 33 characters. */
const MAX_ENTITY = 34;

/** Elements whose content is not markup, or is not shown. It is skipped up to the end tag. */
const RAW = new Set(['script', 'style', 'noscript', 'title', 'textarea', 'iframe', 'noembed', 'noframes', 'xmp']);

const TEXT = 0;
const TAG = 1;
const COMMENT = 2;
const BOGUS = 3;
const RAW_CONTENT = 4;
/** Undecided until more has come. */
const WAIT = -1;

// Where in a tag: the tokenizer states of the HTML standard that decide whether a `>` ends it.
const BEFORE_NAME = 0;
const NAME = 1;
const AFTER_NAME = 2;
const BEFORE_VALUE = 3;
const DOUBLE_QUOTED = 4;
const SINGLE_QUOTED = 5;
const UNQUOTED = 6;
const TAG_NAME = 7;

const GT = 62;
const SLASH = 47;
const EQUALS = 61;
const BANG = 33;
const QUESTION = 63;

export interface ScannerOptions {
  /** The page is XHTML: a tag that ends in a slash has no content. */
  xml?: boolean;
}

class HtmlScanner implements Scanner {
  readonly #handler: Handler;
  readonly #xml: boolean;
  #state = TEXT;
  #buffer = '';
  #at = 0;
  /** What the next piece must be read together with. */
  #carry = '';
  #tag = '';
  #tagState = BEFORE_NAME;
  #rawName = '';
  #title = '';
  #drawings = 0;
  #last = false;

  constructor(handler: Handler, xml: boolean) {
    this.#handler = handler;
    this.#xml = xml;
  }

  end(): void {
    this.#last = true;
    this.write('');
    if (this.#state === RAW_CONTENT && this.#buffer === '') this.#emitTitle();
  }

  write(piece: string): void {
    this.#buffer = this.#carry + piece;
    this.#carry = '';
    this.#at = 0;
    this.#run();
  }

  #scanText(): void {
    const lt = this.#buffer.indexOf('<', this.#at);
    if (lt < 0) {
      const keep = this.#last ? this.#buffer.length : entityStart(this.#buffer, this.#at);
      this.#emitText(keep);
      this.#carry = this.#buffer.slice(keep);
      this.#at = this.#buffer.length;
      return;
    }
    this.#emitText(lt);
    const kind = this.#markupAt(lt);
    if (kind === WAIT && !this.#last) {
      this.#carry = this.#buffer.slice(lt);
      this.#at = this.#buffer.length;
    } else if (kind === TEXT || kind === WAIT) {
      this.#handler.text('<');
      this.#at = lt + 1;
    } else {
      this.#state = kind;
      // The two dashes that begin a comment count for its end: `<!-->` is a whole one.
      this.#at = lt + (kind === COMMENT ? 2 : 1);
      this.#tag = '';
      this.#tagState = TAG_NAME;
    }
  }

  #emitText(to: number): void {
    if (to > this.#at) this.#handler.text(this.#buffer.slice(this.#at, to));
  }

  /** What the `<` at this place begins. */
  #markupAt(lt: number): number {
    const next = codeAt(this.#buffer, lt + 1);
    if (isLetter(next)) return TAG;
    if (next === SLASH)
      return lt + 2 >= this.#buffer.length ? WAIT : isLetter(codeAt(this.#buffer, lt + 2)) ? TAG : BOGUS;
    if (next === BANG) {
      if (this.#buffer.startsWith('--', lt + 2)) return COMMENT;
      return lt + 4 > this.#buffer.length ? WAIT : BOGUS;
    }
    if (next === QUESTION) return BOGUS;
    return Number.isNaN(next) ? WAIT : TEXT;
  }

  #scanTag(): void {
    const end = this.#findTagEnd();
    const from = this.#at;
    this.#at = end + 1;
    if (end < this.#buffer.length && this.#tag === '') {
      this.#state = TEXT;
      return this.#emitTag(this.#buffer, from, Math.min(end, from + MAX_TAG));
    }
    if (this.#tag.length < MAX_TAG) this.#tag += this.#buffer.slice(from, Math.min(end, from + MAX_TAG));
    if (end === this.#buffer.length) return;
    this.#state = TEXT;
    this.#emitTag(this.#tag, 0, this.#tag.length);
  }

  /** The place of the `>` that ends the tag, or the end of the buffer with the place within the tag remembered. */
  #findTagEnd(): number {
    const text = this.#buffer;
    const length = text.length;
    let where = this.#tagState;
    let i = this.#at;
    for (; i < length; i += 1) {
      if (where === DOUBLE_QUOTED || where === SINGLE_QUOTED) {
        const close = text.indexOf(where === DOUBLE_QUOTED ? '"' : "'", i);
        if (close < 0) {
          i = length;
          break;
        }
        i = close;
        where = BEFORE_NAME;
        continue;
      }
      const code = codeAt(text, i);
      if (code === GT) break;
      if (code === 32 || (code < 14 && code > 8)) {
        if (where === NAME) where = AFTER_NAME;
        else if (where === UNQUOTED || where === TAG_NAME) where = BEFORE_NAME;
      } else if (where === BEFORE_VALUE) {
        where = code === 34 ? DOUBLE_QUOTED : code === 39 ? SINGLE_QUOTED : UNQUOTED;
      } else if (where !== UNQUOTED) {
        if (code === SLASH) where = BEFORE_NAME;
        else if (where === TAG_NAME) continue;
        else if (code === EQUALS && where !== BEFORE_NAME) where = BEFORE_VALUE;
        else where = NAME;
      }
    }
    this.#tagState = where;
    return i;
  }

  /** The tag is what stands in `text` from `from` to `to`, without its brackets. */
  #emitTag(text: string, from: number, to: number): void {
    const closing = codeAt(text, from) === SLASH;
    const start = closing ? from + 1 : from;
    let end = start + 1;
    while (end < to && !endsName(codeAt(text, end))) end += 1;
    const name = text.slice(start, end).toLowerCase();
    if (closing) {
      if (name === 'svg' && this.#drawings > 0) this.#drawings -= 1;
      this.#handler.close(name);
      return;
    }
    const empty = (this.#xml || name === 'svg' || this.#drawings > 0) && codeAt(text, to - 1) === SLASH;
    if (name === 'svg' && !empty) this.#drawings += 1;
    if (!empty && RAW.has(name)) {
      this.#state = RAW_CONTENT;
      this.#rawName = name;
      this.#title = '';
    }
    this.#handler.open(name, end < to ? text.slice(end, to) : '');
  }

  #scanComment(): void {
    const match = findCommentEnd(this.#buffer, this.#at);
    if (match < 0) {
      this.#carry = this.#buffer.slice(Math.max(this.#at, this.#buffer.length - 3));
      this.#at = this.#buffer.length;
      return;
    }
    this.#at = match;
    this.#state = TEXT;
  }

  #scanBogus(): void {
    const gt = this.#buffer.indexOf('>', this.#at);
    this.#at = gt < 0 ? this.#buffer.length : gt + 1;
    if (gt >= 0) this.#state = TEXT;
  }

  #scanRaw(): void {
    const end = findEndTag(this.#buffer, this.#at, this.#rawName);
    const known = end < 0 ? Math.max(this.#at, this.#buffer.length - this.#rawName.length - 2) : end;
    if (this.#rawName === 'title' && this.#drawings === 0 && this.#title.length < MAX_TITLE) {
      this.#title += this.#buffer.slice(
        this.#at,
        Math.min(end < 0 && this.#last ? this.#buffer.length : known, this.#at + MAX_TITLE),
      );
    }
    if (end < 0) {
      this.#carry = this.#buffer.slice(known);
      this.#at = this.#buffer.length;
      if (this.#last) this.#emitTitle();
      return;
    }
    this.#emitTitle();
    this.#state = TAG;
    this.#at = end + 1;
    this.#tag = '';
    this.#tagState = TAG_NAME;
  }

  #emitTitle(): void {
    if (this.#rawName === 'title' && this.#drawings === 0) this.#handler.title(this.#title);
  }

  #run(): void {
    while (this.#at < this.#buffer.length) {
      if (this.#state === TEXT) this.#scanText();
      else if (this.#state === TAG) this.#scanTag();
      else if (this.#state === RAW_CONTENT) this.#scanRaw();
      else if (this.#state === COMMENT) this.#scanComment();
      else this.#scanBogus();
    }
  }
}

export const createScanner = (handler: Handler, { xml = false }: ScannerOptions = {}): Scanner =>
  new HtmlScanner(handler, xml);

const isLetter = (code: number): boolean => (code > 96 && code < 123) || (code > 64 && code < 91);

const isSpace = (code: number): boolean => code === 32 || (code > 8 && code < 14);

const endsName = (code: number): boolean => isSpace(code) || code === SLASH || code === GT;

/** Where text can be cut without cutting an entity that may go on. */
function entityStart(text: string, from: number): number {
  const tail = Math.max(from, text.length - MAX_ENTITY);
  const amp = text.indexOf('&', tail);
  const lastAmp = amp < 0 ? -1 : text.lastIndexOf('&');
  return lastAmp < 0 || text.includes(';', lastAmp) ? text.length : lastAmp;
}

/** The place after the `-->` or `--!>` that ends a comment, or -1. */
function findCommentEnd(text: string, from: number): number {
  for (let i = text.indexOf('--', from); i >= 0; i = text.indexOf('--', i + 1)) {
    const next = codeAt(text, i + 2);
    if (next === GT) return i + 3;
    if (next === BANG && codeAt(text, i + 3) === GT) return i + 4;
  }
  return -1;
}

/** The place of `</name` in raw content, or -1. */
function findEndTag(text: string, from: number, name: string): number {
  for (let i = text.indexOf('</', from); i >= 0; i = text.indexOf('</', i + 2)) {
    const end = i + 2 + name.length;
    if (end < text.length && endsName(codeAt(text, end)) && text.slice(i + 2, end).toLowerCase() === name) return i;
  }
  return -1;
}

/** The attributes of the given names, as written; of repeated ones the first. */
export function readAttributes(text: string, wanted: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const length = text.length;
  let i = 0;
  const skipSpace = () => {
    while (i < length && isSpace(codeAt(text, i))) i += 1;
  };
  while (i < length) {
    const code = codeAt(text, i);
    if (isSpace(code) || code === SLASH) {
      i += 1;
      continue;
    }
    const start = i;
    i += 1;
    while (i < length && !endsName(codeAt(text, i)) && codeAt(text, i) !== EQUALS) i += 1;
    const name = text.slice(start, i).toLowerCase();
    skipSpace();
    let value = '';
    if (codeAt(text, i) === EQUALS) {
      i += 1;
      skipSpace();
      const quote = text[i];
      const from = quote === '"' || quote === "'" ? i + 1 : i;
      if (from > i) i = text.indexOf(quote as string, from);
      else while (i < length && !isSpace(codeAt(text, i))) i += 1;
      if (i < 0) i = length;
      value = text.slice(from, i);
      if (from > 0 && text[i] === quote) i += 1;
    }
    if (wanted.includes(name) && !found.has(name)) found.set(name, value);
  }
  return found;
}
