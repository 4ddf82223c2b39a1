/**
 * The objects of a PDF, found by looking for them: the table that says where they are is missing or wrong in too many
 * files. Loaded by threads only; whatever the file says, depth, number and size are bounded.
 */

interface Ref {
  ref: number;
}
export interface Name {
  name: string;
}
export type Dict = Map<string, Value>;
/** Strings stand for bytes: a character each. */
export type Value = null | boolean | number | string | Name | Ref | Value[] | Dict;

export const isDict = (value: unknown): value is Dict => value instanceof Map;
const isRef = (value: unknown): value is Ref => typeof value === 'object' && value !== null && 'ref' in value;
export const nameOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'name' in value ? (value as Name).name : '';

const MAX_DEPTH = 32;
const MAX_OBJECTS = 200_000;
/** Of all that is unpacked of one file. */
const MAX_UNPACKED = 64 * 1024 * 1024;
/**
 * Of a string, and values of a list or a dictionary. A thread whose heap grows too large is ended; one that asks for many
 * megabytes at once takes the process with it, so nothing here may grow like that.
 */
export const MAX_STRING = 1_000_000;
export const MAX_LIST = 250_000;

export const tooLong = (what: string): RangeError => new RangeError(`The PDF has ${what} that is too long`);

const SPACE = new Set([' ', '\t', '\r', '\n', '\f', '\0']);
const DELIMITER = new Set(['(', ')', '<', '>', '[', ']', '{', '}', '/', '%']);
const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** An operator of a page, or a word that is no value. */
export class Word {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
const END = new Word('');

/** Reads values one after the other. */
export class Reader {
  at: number;
  readonly text: string;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  skipSpace(): void {
    for (; this.at < this.text.length; this.at += 1) {
      const char = this.text[this.at]!;
      if (char === '%') {
        while (this.at < this.text.length && this.text[this.at] !== '\n' && this.text[this.at] !== '\r') this.at += 1;
      } else if (!SPACE.has(char)) return;
    }
  }

  /** The next value or word; undefined: there is none. */
  next(depth = 0): Value | Word | undefined {
    this.skipSpace();
    const char = this.text[this.at];
    if (char === undefined || depth > MAX_DEPTH) return undefined;
    if (char === '(') return this.#literal();
    if (char === '/') return this.#name();
    if (char === '[') return this.#list(depth);
    if (char === '<') return this.text[this.at + 1] === '<' ? this.#dict(depth) : this.#hex();
    if (char === ']' || char === '>' || char === '{' || char === '}' || char === ')') {
      this.at += this.text.startsWith('>>', this.at) ? 2 : 1;
      return END;
    }
    return this.#word();
  }

  #word(): Value | Word {
    const from = this.at;
    while (this.at < this.text.length && !SPACE.has(this.text[this.at]!) && !DELIMITER.has(this.text[this.at]!))
      this.at += 1;
    if (this.at - from > MAX_STRING) throw tooLong('a word');
    const word = this.text.slice(from, this.at);
    if (/^[+-]?(?:\d{1,15}\.?\d{0,15}|\.\d{1,15})$/.test(word)) return this.#number(word);
    return word === 'true' ? true : word === 'false' ? false : word === 'null' ? null : new Word(word);
  }

  /** A number, or a reference where `0 R` follows. */
  #number(word: string): Value {
    const follows = /^\s{1,9}\d{1,5}\s{1,9}R(?![A-Za-z])/.exec(this.text.slice(this.at, this.at + 32));
    if (!follows || !/^\d+$/.test(word)) return Number(word);
    this.at += follows[0].length;
    return { ref: Number(word) };
  }

  #name(): Name {
    const from = ++this.at;
    while (this.at < this.text.length && !SPACE.has(this.text[this.at]!) && !DELIMITER.has(this.text[this.at]!))
      this.at += 1;
    if (this.at - from > MAX_STRING) throw tooLong('a name');
    const raw = this.text.slice(from, this.at);
    return {
      name: raw.replaceAll(/#([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    };
  }

  #literal(): string {
    const parts: string[] = [];
    let open = 1;
    const from = this.at;
    for (this.at += 1; this.at < this.text.length; this.at += 1) {
      if (this.at - from > MAX_STRING) throw tooLong('a string');
      const char = this.text[this.at]!;
      if (char === '\\') {
        parts.push(this.#escape());
        continue;
      }
      if (char === '(') open += 1;
      if (char === ')' && --open === 0) break;
      parts.push(char);
    }
    this.at += 1;
    return parts.join('');
  }

  #escape(): string {
    this.at += 1;
    const octal = /^[0-7]{1,3}/.exec(this.text.slice(this.at, this.at + 3))?.[0];
    if (octal !== undefined) {
      this.at += octal.length - 1;
      return String.fromCharCode(Number.parseInt(octal, 8) & 255);
    }
    const char = this.text[this.at] ?? '';
    if (char === '\r' && this.text[this.at + 1] === '\n') this.at += 1;
    return char === '\r' || char === '\n' ? '' : (ESCAPES[char] ?? char);
  }

  #hex(): string {
    const end = this.text.indexOf('>', this.at);
    if ((end < 0 ? this.text.length : end) - this.at > 2 * MAX_STRING) throw tooLong('a string');
    const digits = this.text.slice(this.at + 1, end < 0 ? this.text.length : end).replaceAll(/[^0-9a-f]/gi, '');
    this.at = end < 0 ? this.text.length : end + 1;
    return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex').toString('latin1');
  }

  // What is read counts, also what is not kept: else a file of brackets alone takes as long as it is.
  #list(depth: number): Value[] {
    this.at += 1;
    const list: Value[] = [];
    let read = 0;
    for (let value = this.next(depth + 1); value !== undefined && value !== END; value = this.next(depth + 1)) {
      if (!(value instanceof Word)) list.push(value);
      if (++read > MAX_LIST) throw tooLong('a list');
    }
    return list;
  }

  #dict(depth: number): Dict {
    this.at += 2;
    const dict: Dict = new Map();
    let read = 0;
    for (let key = this.next(depth + 1); key !== undefined && key !== END; key = this.next(depth + 1)) {
      const value = this.next(depth + 1);
      if (value === undefined || value === END) break;
      if (nameOf(key) !== '' && !(value instanceof Word)) dict.set(nameOf(key), value);
      if (++read > MAX_LIST) throw tooLong('a dictionary');
    }
    return dict;
  }
}

export type Inflate = (bytes: Buffer, most: number) => Buffer;

export interface Objects {
  /** The value itself, references followed. */
  get: (value: Value | undefined) => Value;
  dict: (value: Value | undefined) => Dict;
  /** What a stream holds, unpacked; empty: it is none, or packed in a way that nobody needs for text. */
  stream: (value: Value | undefined) => string;
  all: () => Dict[];
  isLocked: boolean;
}

interface Place {
  text: string;
  at: number;
}

interface Loaded {
  value: Value;
  data?: string;
}

/** Where each object begins: a later one of the same number counts. */
function placesIn(text: string): Map<number, Place> {
  const places = new Map<number, Place>();
  for (const found of text.matchAll(/(?<!\d)(\d{1,9})[ \t\r\n]{1,4}\d{1,5}[ \t\r\n]{1,4}obj\b/g)) {
    if (places.size > MAX_OBJECTS) break;
    places.set(Number(found[1]), { text, at: found.index + found[0].length });
  }
  return places;
}

/** The bytes of a stream after its dictionary; its length may be wrong. */
function dataAfter(reader: Reader, length: Value): string | undefined {
  reader.skipSpace();
  const { text } = reader;
  if (!text.startsWith('stream', reader.at)) return undefined;
  const from = reader.at + 6 + (text.startsWith('\r\n', reader.at + 6) ? 2 : 1);
  const said = typeof length === 'number' ? from + length : -1;
  const isRight = said >= from && /^\s{0,3}endstream/.test(text.slice(said, said + 16));
  const end = isRight ? said : text.indexOf('endstream', from);
  return end < 0 ? undefined : text.slice(from, end);
}

/** Undoes what a stream is packed with; empty: nobody needs that for text. */
function createUnpack(inflate: Inflate) {
  let unpacked = 0;
  return (filters: string[], data: string): string => {
    let bytes: Buffer = Buffer.from(data, 'latin1');
    for (const filter of filters) {
      if (filter === 'FlateDecode' || filter === 'Fl') bytes = inflate(bytes, MAX_UNPACKED - unpacked);
      else if (filter === 'ASCIIHexDecode')
        bytes = Buffer.from(bytes.toString('latin1').replaceAll(/[^0-9a-f]/gi, ''), 'hex');
      else if (filter === 'ASCII85Decode') bytes = ascii85(bytes.toString('latin1'));
      else return '';
      unpacked += bytes.length;
      if (unpacked > MAX_UNPACKED) throw new RangeError('The PDF unpacks to more than 64 MB');
    }
    return bytes.toString('latin1');
  };
}

export function readObjects(file: Buffer, inflate: Inflate): Objects {
  const text = file.toString('latin1');
  const places = placesIn(text);
  const known = new Map<number, Loaded>();
  const unpack = createUnpack(inflate);

  function load(number: number): Loaded | undefined {
    const before = known.get(number);
    const place = places.get(number);
    if (before || !place) return before;
    // Set first: an object whose length is itself would be read for ever.
    known.set(number, { value: null });
    const reader = new Reader(place.text, place.at);
    const value = reader.next();
    const made: Loaded = { value: value === undefined || value instanceof Word ? null : value };
    const data = isDict(made.value) ? dataAfter(reader, get(made.value.get('Length'))) : undefined;
    if (data !== undefined) made.data = data;
    known.set(number, made);
    return made;
  }

  function get(value: Value | undefined): Value {
    let found = value ?? null;
    for (let hops = 0; isRef(found) && hops < MAX_DEPTH; hops += 1) found = load(found.ref)?.value ?? null;
    return isRef(found) ? null : found;
  }

  const dict = (value: Value | undefined): Dict => {
    const found = get(value);
    return isDict(found) ? found : new Map();
  };

  function stream(value: Value | undefined): string {
    const made = isRef(value) ? load(value.ref) : undefined;
    if (made?.data === undefined || !isDict(made.value)) return '';
    const filters = [get(made.value.get('Filter'))].flat().map((one) => nameOf(get(one)));
    return unpack(filters.filter(Boolean), made.data);
  }

  for (const number of places.keys()) addPacked(places, dict({ ref: number }), () => stream({ ref: number }), get);
  return {
    get,
    dict,
    stream,
    all: () => [...places.keys()].flatMap((number) => load(number)?.value ?? []).filter(isDict),
    isLocked: /\/Encrypt\s{0,9}(?:\d|<<)/.test(text),
  };
}

/** Objects that are packed together; what stands by itself came later and counts. */
function addPacked(places: Map<number, Place>, about: Dict, data: () => string, get: Objects['get']): void {
  if (nameOf(about.get('Type')) !== 'ObjStm') return;
  const [first, count] = [get(about.get('First')), get(about.get('N'))];
  if (typeof first !== 'number' || typeof count !== 'number') return;
  const inside = data();
  const reader = new Reader(inside);
  for (let read = 0; read < count && places.size < MAX_OBJECTS; read += 1) {
    const [id, at] = [reader.next(), reader.next()];
    if (typeof id !== 'number' || typeof at !== 'number') return;
    if (!places.has(id)) places.set(id, { text: inside, at: first + at });
  }
}

function ascii85(text: string): Buffer {
  const end = text.indexOf('~>');
  const size = end < 0 ? text.length : end;
  // Four bytes for each character at most: `z` is four zeros.
  if (size > MAX_UNPACKED / 4) throw tooLong('a stream');
  const bytes = Buffer.alloc(4 * size);
  let length = 0;
  let group: number[] = [];
  const put = (digits: number[], count: number): void => {
    const value = digits.reduce((sum, digit) => sum * 85 + digit, 0);
    for (let index = 0; index < count; index += 1) bytes[length++] = Math.floor(value / 256 ** (3 - index)) & 255;
  };
  for (let at = 0; at < size; at += 1) {
    const char = text[at]!;
    if (char === 'z' && group.length === 0) put([0, 0, 0, 0, 0], 4);
    else if (char >= '!' && char <= 'u') group.push(char.charCodeAt(0) - 33);
    if (group.length < 5) continue;
    put(group, 4);
    group = [];
  }
  if (group.length > 1) put([...group, 84, 84, 84, 84].slice(0, 5), group.length - 1);
  return bytes.subarray(0, length);
}
