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

export function createScanner(handler: Handler, { xml = false }: ScannerOptions = {}): Scanner {
  let state = TEXT;
  let buffer = '';
  let at = 0;
  /** What the next piece must be read together with. */
  let carry = '';
  let tag = '';
  let tagState = BEFORE_NAME;
  let rawName = '';
  let title = '';
  let drawings = 0;
  let last = false;

  function scanText(): void {
    const lt = buffer.indexOf('<', at);
    if (lt < 0) {
      const keep = last ? buffer.length : entityStart(buffer, at);
      emitText(keep);
      carry = buffer.slice(keep);
      at = buffer.length;
      return;
    }
    emitText(lt);
    const kind = markupAt(lt);
    if (kind === WAIT && !last) {
      carry = buffer.slice(lt);
      at = buffer.length;
    } else if (kind === TEXT || kind === WAIT) {
      handler.text('<');
      at = lt + 1;
    } else {
      state = kind;
      // The two dashes that begin a comment count for its end: `<!-->` is a whole one.
      at = lt + (kind === COMMENT ? 2 : 1);
      tag = '';
      tagState = TAG_NAME;
    }
  }

  function emitText(to: number): void {
    if (to > at) handler.text(buffer.slice(at, to));
  }

  /** What the `<` at this place begins. */
  function markupAt(lt: number): number {
    const next = codeAt(buffer, lt + 1);
    if (isLetter(next)) return TAG;
    if (next === SLASH) return lt + 2 >= buffer.length ? WAIT : isLetter(codeAt(buffer, lt + 2)) ? TAG : BOGUS;
    if (next === BANG) {
      if (buffer.startsWith('--', lt + 2)) return COMMENT;
      return lt + 4 > buffer.length ? WAIT : BOGUS;
    }
    if (next === QUESTION) return BOGUS;
    return Number.isNaN(next) ? WAIT : TEXT;
  }

  function scanTag(): void {
    const end = findTagEnd();
    const from = at;
    at = end + 1;
    if (end < buffer.length && tag === '') {
      state = TEXT;
      return emitTag(buffer, from, Math.min(end, from + MAX_TAG));
    }
    if (tag.length < MAX_TAG) tag += buffer.slice(from, Math.min(end, from + MAX_TAG));
    if (end === buffer.length) return;
    state = TEXT;
    emitTag(tag, 0, tag.length);
  }

  /** The place of the `>` that ends the tag, or the end of the buffer with the place within the tag remembered. */
  function findTagEnd(): number {
    const text = buffer;
    const length = text.length;
    let where = tagState;
    let i = at;
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
    tagState = where;
    return i;
  }

  /** The tag is what stands in `text` from `from` to `to`, without its brackets. */
  function emitTag(text: string, from: number, to: number): void {
    const closing = codeAt(text, from) === SLASH;
    const start = closing ? from + 1 : from;
    let end = start + 1;
    while (end < to && !endsName(codeAt(text, end))) end += 1;
    const name = text.slice(start, end).toLowerCase();
    if (closing) {
      if (name === 'svg' && drawings > 0) drawings -= 1;
      handler.close(name);
      return;
    }
    const empty = (xml || name === 'svg' || drawings > 0) && codeAt(text, to - 1) === SLASH;
    if (name === 'svg' && !empty) drawings += 1;
    if (!empty && RAW.has(name)) {
      state = RAW_CONTENT;
      rawName = name;
      title = '';
    }
    handler.open(name, end < to ? text.slice(end, to) : '');
  }

  function scanComment(): void {
    const match = findCommentEnd(buffer, at);
    if (match < 0) {
      carry = buffer.slice(Math.max(at, buffer.length - 3));
      at = buffer.length;
      return;
    }
    at = match;
    state = TEXT;
  }

  function scanBogus(): void {
    const gt = buffer.indexOf('>', at);
    at = gt < 0 ? buffer.length : gt + 1;
    if (gt >= 0) state = TEXT;
  }

  function scanRaw(): void {
    const end = findEndTag(buffer, at, rawName);
    const known = end < 0 ? Math.max(at, buffer.length - rawName.length - 2) : end;
    if (rawName === 'title' && drawings === 0 && title.length < MAX_TITLE) {
      title += buffer.slice(at, Math.min(end < 0 && last ? buffer.length : known, at + MAX_TITLE));
    }
    if (end < 0) {
      carry = buffer.slice(known);
      at = buffer.length;
      if (last) emitTitle();
      return;
    }
    emitTitle();
    state = TAG;
    at = end + 1;
    tag = '';
    tagState = TAG_NAME;
  }

  function emitTitle(): void {
    if (rawName === 'title' && drawings === 0) handler.title(title);
  }

  function run(): void {
    while (at < buffer.length) {
      if (state === TEXT) scanText();
      else if (state === TAG) scanTag();
      else if (state === RAW_CONTENT) scanRaw();
      else if (state === COMMENT) scanComment();
      else scanBogus();
    }
  }

  function write(piece: string): void {
    buffer = carry + piece;
    carry = '';
    at = 0;
    run();
  }
  return {
    write,
    end() {
      last = true;
      write('');
      if (state === RAW_CONTENT && buffer === '') emitTitle();
    },
  };
}

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
