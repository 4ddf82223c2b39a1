import { ImportError } from './parts.ts';

/** JSON as people write it: comments, names and texts in single quotes, commas at the end. */

const DEPTH = 64;
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '0': '\0' };
const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };
const SPACE = /(?:[\s\uFEFF]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const NAME = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const NUMBER = /[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN)/y;
const PLAIN = /[^"'\\\n]+/y;

export function parseJson5(text: string, path: string): unknown {
  const reader = new Reader(text, path);
  const value = reader.value(0);
  reader.end();
  return value;
}

class Reader {
  #at = 0;
  readonly #text: string;
  readonly #path: string;

  constructor(text: string, path: string) {
    this.#text = text;
    this.#path = path;
  }

  #fail(): never {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    throw new ImportError(`${this.#path} is not valid JSON5: line ${line}`);
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #next(sign: string): boolean {
    this.#take(SPACE);
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  end(): void {
    this.#take(SPACE);
    if (this.#at < this.#text.length) this.#fail();
  }

  value(depth: number): unknown {
    if (depth > DEPTH) this.#fail();
    if (this.#next('{')) return this.#object(depth);
    if (this.#next('[')) return this.#list(depth);
    const quote = this.#text[this.#at];
    if (quote === '"' || quote === "'") return this.#string();
    const number = this.#take(NUMBER);
    if (number) return Number(number);
    const word = this.#take(NAME) ?? '';
    return Object.hasOwn(WORDS, word) ? WORDS[word] : this.#fail();
  }

  #object(depth: number): unknown {
    const entries: [string, unknown][] = [];
    while (!this.#next('}')) {
      const quote = this.#text[this.#at];
      const key = quote === '"' || quote === "'" ? this.#string() : (this.#take(NAME) ?? this.#fail());
      if (!this.#next(':')) this.#fail();
      entries.push([key, this.value(depth + 1)]);
      if (this.#next(',')) continue;
      if (!this.#next('}')) this.#fail();
      break;
    }
    return Object.fromEntries(entries);
  }

  #list(depth: number): unknown[] {
    const items: unknown[] = [];
    while (!this.#next(']')) {
      items.push(this.value(depth + 1));
      if (this.#next(',')) continue;
      if (!this.#next(']')) this.#fail();
      break;
    }
    return items;
  }

  #string(): string {
    const quote = this.#text[this.#at];
    this.#at += 1;
    const parts: string[] = [];
    for (;;) {
      parts.push(this.#take(PLAIN) ?? '');
      const sign = this.#text[this.#at];
      if (sign === undefined || sign === '\n') this.#fail();
      this.#at += 1;
      if (sign === quote) return parts.join('').toWellFormed();
      parts.push(sign === '\\' ? this.#escape() : sign);
    }
  }

  #escape(): string {
    const hex = this.#take(/u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}/y);
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex.slice(1), 16));
    const sign = this.#text[this.#at];
    if (sign === undefined) this.#fail();
    this.#at += 1;
    if (sign === '\n') return '';
    return ESCAPES[sign] ?? sign;
  }
}
