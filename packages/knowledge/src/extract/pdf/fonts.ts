import { isDict, MAX_LIST, MAX_STRING, nameOf, Reader, tooLong, Word } from './objects.ts';
import type { Dict, Objects, Value } from './objects.ts';

/** What the bytes of a string mean in a font, and how wide they stand, in thousandths of its size. */
export type Font = (bytes: string) => { text: string; width: number };

const MAX_RANGE = 65_536;
/** Letters that a code stands for. */
const MAX_LETTERS = 32;

/** Names of glyphs that are not single letters; the rest is told by `uniXXXX`. */
const GLYPHS: Record<string, string> = Object.fromEntries(
  `space:  |exclam:!|quotedbl:"|numbersign:#|dollar:$|percent:%|ampersand:&|quotesingle:'|parenleft:(|parenright:)|asterisk:*|plus:+|comma:,|hyphen:-|period:.|slash:/|zero:0|one:1|two:2|three:3|four:4|five:5|six:6|seven:7|eight:8|nine:9|semicolon:;|less:<|equal:=|greater:>|question:?|at:@|bracketleft:[|backslash:\\|bracketright:]|underscore:_|quoteleft:‘|quoteright:’|quotedblleft:“|quotedblright:”|endash:–|emdash:—|bullet:•|ellipsis:…|fi:fi|fl:fl|ff:ff|ffi:ffi|ffl:ffl|Euro:€|sterling:£|section:§|degree:°|germandbls:ß|adieresis:ä|odieresis:ö|udieresis:ü|Adieresis:Ä|Odieresis:Ö|Udieresis:Ü|eacute:é|egrave:è|agrave:à|ccedilla:ç|aacute:á|iacute:í|oacute:ó|uacute:ú|ntilde:ñ`
    .split('|')
    .map((pair) => [pair.slice(0, pair.indexOf(':')), pair.slice(pair.indexOf(':') + 1).trim() || ' ']),
);
GLYPHS['colon'] = ':';

/** The letter of each code. Made once: a page is thousands of them. */
const WINDOWS = new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, code) => code));
const windows = (code: number): string => WINDOWS[code & 255]!;

const glyph = (name: string): string => {
  const code = /^uni([0-9A-F]{4})/.exec(name)?.[1] ?? /^u([0-9A-F]{4,6})$/.exec(name)?.[1];
  return (
    GLYPHS[name] ??
    (code === undefined
      ? name.slice(0, name.length === 1 ? 1 : 0)
      : String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff)))
  );
};

const utf16 = (all: string): string => {
  const bytes = all.slice(0, 2 * MAX_LETTERS);
  const swapped = Buffer.from(bytes.length % 2 === 0 ? bytes : `\0${bytes}`, 'latin1').swap16();
  return swapped.toString('utf16le');
};

function numberOf(bytes: string): number {
  let sum = 0;
  for (let at = 0; at < bytes.length && at < 8; at += 1) sum = sum * 256 + (bytes.charCodeAt(at) & 255);
  return sum;
}

interface Meanings {
  /** Bytes of a code. */
  width: number;
  of: Map<number, string>;
}

/** A table from codes to letters, as the file brings it. */
function readMeanings(table: string): Meanings {
  const reader = new Reader(table);
  const of = new Map<number, string>();
  let width = 1;
  let stack: Value[] = [];
  for (let value = reader.next(); value !== undefined; value = reader.next()) {
    if (!(value instanceof Word)) {
      if (stack.push(value) > MAX_LIST) throw tooLong('a table');
      continue;
    }
    if (value.text === 'endcodespacerange') width = Math.max(1, Math.min(4, String(stack.at(-1) ?? ' ').length));
    if (value.text === 'endbfchar')
      for (let at = 0; at + 1 < stack.length; at += 2)
        if (of.size < 4 * MAX_RANGE) of.set(numberOf(String(stack[at])), utf16(String(stack[at + 1])));
    if (value.text === 'endbfrange')
      for (let at = 0; at + 2 < stack.length; at += 3) range(of, stack.slice(at, at + 3));
    stack = [];
  }
  return { width, of };
}

function range(of: Map<number, string>, [low, high, to]: Value[]): void {
  const [first, last] = [numberOf(String(low)), numberOf(String(high))];
  for (let code = first; code <= last && code - first < MAX_RANGE && of.size < 4 * MAX_RANGE; code += 1) {
    if (Array.isArray(to)) of.set(code, utf16(String(to[code - first] ?? '')));
    else {
      const start = utf16(String(to));
      const point = start.codePointAt(start.length - 1) ?? 0;
      of.set(code, start.slice(0, -1) + String.fromCodePoint(Math.min(point + code - first, 0x10ffff)));
    }
  }
}

/** Without a table the codes of a simple font are those of Windows, but for the glyphs that it names. */
function simpleMeaning(objects: Objects, font: Dict): (code: number) => string {
  const encoding = objects.get(font.get('Encoding'));
  const names = new Map<number, string>();
  let code = 0;
  const differences = isDict(encoding) ? objects.get(encoding.get('Differences')) : [];
  for (const one of Array.isArray(differences) ? differences.slice(0, MAX_RANGE) : []) {
    if (typeof one === 'number') code = one;
    else names.set(code++, glyph(nameOf(one)));
  }
  return (at) => names.get(at) ?? windows(at);
}

const USUAL_WIDTH = 500;

/** Widths of a simple font: a list from its first letter on. */
function simpleWidths(objects: Objects, font: Dict): (code: number) => number {
  const first = objects.get(font.get('FirstChar'));
  const list = objects.get(font.get('Widths'));
  return (code) => {
    const found = Array.isArray(list) ? objects.get(list[code - Number(first)]) : undefined;
    return typeof found === 'number' ? found : USUAL_WIDTH;
  };
}

/** Widths of a wide font: `code [w w …]` or `from to w`. */
function wideWidths(objects: Objects, font: Dict): (code: number) => number {
  const inner = objects.get(font.get('DescendantFonts'));
  const about = objects.dict(Array.isArray(inner) ? inner[0] : null);
  const [list, usual] = [objects.get(about.get('W')), objects.get(about.get('DW'))];
  const widths = new Map<number, number>();
  const given = Array.isArray(list) ? list.map((one) => objects.get(one)) : [];
  for (let at = 0; at < given.length;) {
    const [from, next, width] = [Number(given[at]), given[at + 1], Number(given[at + 2])];
    if (Array.isArray(next)) {
      next.slice(0, MAX_RANGE).forEach((one, index) => widths.set(from + index, Number(objects.get(one))));
      at += 2;
    } else {
      for (let code = from; code <= Number(next) && code - from < MAX_RANGE; code += 1) widths.set(code, width);
      at += 3;
    }
    if (widths.size > MAX_RANGE) break;
  }
  return (code) => widths.get(code) ?? (typeof usual === 'number' ? usual : 1000);
}

export function readFont(objects: Objects, font: Dict): Font {
  const table = objects.stream(font.get('ToUnicode'));
  const isWide = nameOf(objects.get(font.get('Subtype'))) === 'Type0';
  const { width, of } = readMeanings(table);
  // Codes of a wide font that nobody says the meaning of stay unsaid.
  const meaning = table === '' && !isWide ? simpleMeaning(objects, font) : (code: number) => of.get(code) ?? '';
  const widthOf = isWide ? wideWidths(objects, font) : simpleWidths(objects, font);
  const size = isWide ? Math.max(2, width) : 1;
  return (bytes) => {
    const said: string[] = [];
    let [wide, letters] = [0, 0];
    for (let at = 0; at < bytes.length && letters < MAX_STRING; at += size) {
      const code = numberOf(bytes.slice(at, at + size));
      const text = meaning(code);
      said.push(text);
      letters += text.length;
      wide += widthOf(code);
    }
    return { text: said.join(''), width: wide };
  };
}
