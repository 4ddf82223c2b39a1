import { differences } from './differing.ts';

/** Signs of many texts' numbers, one bit each: in how many they differ from a question's says roughly how near it is. */

/** So many of a text's signs are kept in a process: by these the likely ones are found. */
const KEPT_SIGNS = 512;
/** Whole blocks of 128: what is missing is 0 in all of them. */
const BLOCK = 128;

export const signBytes = (dimension: number): number =>
  (BLOCK / 8) * Math.ceil(Math.min(dimension, KEPT_SIGNS) / BLOCK);

/** The first signs of a question, as PostgreSQL sends bits: the first is the highest of its byte. */
export function signsOf(vector: Float32Array): Uint8Array {
  const signs = new Uint8Array(signBytes(vector.length));
  for (let at = 0; at < Math.min(vector.length, KEPT_SIGNS); at += 1)
    if (vector[at]! > 0) signs[at >> 3]! |= 0x80 >> (at & 7);
  return signs;
}

/** Texts that room is made for at once. */
const AT_ONCE = 16_384;

const grown = <T extends Int32Array | Uint16Array | Uint8Array>(old: T, size: number): T => {
  const made = new (old.constructor as new (length: number) => T)(size);
  made.set(old);
  return made;
};

/** The first signs of many texts, each with a number; numbers only grow. */
export class SignList {
  #numbers = new Int32Array();
  #signs = new Uint8Array();
  #far = new Uint16Array();
  #count = 0;
  /** Bytes of each. */
  readonly each: number;

  constructor(dimension: number) {
    this.each = signBytes(dimension);
  }

  get count(): number {
    return this.#count;
  }
  /** The number of the newest; -1: there is none. */
  get last(): number {
    return this.#count === 0 ? -1 : this.#numbers[this.#count - 1]!;
  }
  get bytes(): number {
    return this.#numbers.byteLength + this.#signs.byteLength + this.#far.byteLength;
  }

  /** Before so many are added. */
  makeRoom(more: number): void {
    const size = this.#count + more;
    if (size <= this.#numbers.length) return;
    const room = more < AT_ONCE ? size : size + AT_ONCE;
    this.#numbers = grown(this.#numbers, room);
    this.#signs = grown(this.#signs, room * this.each);
    this.#far = grown(this.#far, room);
  }
  /** All signs of a text, or its first. */
  add(number: number, signs: Uint8Array): void {
    if (this.#count === this.#numbers.length) this.makeRoom(AT_ONCE);
    this.#numbers[this.#count] = number;
    const at = this.#count * this.each;
    this.#signs.fill(0, at, at + this.each).set(signs.subarray(0, this.each), at);
    this.#count += 1;
  }
  clear(): void {
    this.#count = 0;
  }

  /** Numbers of those that differ least from the question: `most` of them, and all that are as near as the last. */
  likely(question: Uint8Array, most: number): number[] {
    differences(this.#signs, question, this.#count, this.#far);
    return leastOf(this.#far, this.#count, most).map((place) => this.#numbers[place]!);
  }
}

/** The places of those that differ least. */
export function leastOf(far: Uint16Array, count: number, most: number): number[] {
  const having = new Uint32Array(KEPT_SIGNS + 1);
  for (let text = 0; text < count; text += 1) having[far[text]!]! += 1;
  let [bound, sum] = [0, having[0]!];
  while (sum < most && bound < KEPT_SIGNS) sum += having[(bound += 1)]!;
  const found: number[] = [];
  for (let text = 0; text < count; text += 1) if (far[text]! <= bound) found.push(text);
  return found;
}
