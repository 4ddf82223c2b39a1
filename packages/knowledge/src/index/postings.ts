/** The postings of a term in a block: four bytes for each passage, see the table. */

export const BLOCK = 4096;
const ENTRY = 4;

export const blockOf = (number: number): number => Math.floor(number / BLOCK);
export const countOf = (postings: Buffer): number => postings.length / ENTRY;

export interface Counted {
  terms: readonly (readonly [term: string, count: number])[];
  words: number;
}

/** Terms of passages that are looked at before others have their turn: two milliseconds of work. */
const AT_ONCE = 5000;

/** By block and term, for passages that are numbered from `first` on. A large document has millions: others go on meanwhile. */
export async function postingsOf(
  passages: readonly Counted[],
  first: number,
): Promise<Map<number, Map<string, number[]>>> {
  const blocks = new Map<number, Map<string, number[]>>();
  let work = 0;
  for (const [index, { terms, words }] of passages.entries()) {
    const number = first + index;
    const slot = number % BLOCK;
    const length = Math.min(255, Math.ceil(words / 2));
    const block = blocks.get(blockOf(number)) ?? new Map<string, number[]>();
    blocks.set(blockOf(number), block);
    for (const [term, count] of terms) {
      const list = block.get(term);
      if (list) list.push(slot >> 8, slot & 255, Math.min(255, count), length);
      else block.set(term, [slot >> 8, slot & 255, Math.min(255, count), length]);
    }
    work += terms.length;
    if (work < AT_ONCE) continue;
    work = 0;
    await new Promise(setImmediate);
  }
  return blocks;
}

/** Without the passages from slot `from` up to, and without, slot `to`. */
export function without(postings: Buffer, from: number, to: number): Buffer {
  const kept: Buffer[] = [];
  for (let at = 0; at < postings.length; at += ENTRY) {
    const slot = postings.readUInt16BE(at);
    if (slot < from || slot >= to) kept.push(postings.subarray(at, at + ENTRY));
  }
  return Buffer.concat(kept);
}

/** How fast a word that comes again counts less, and how much long passages lose. */
export interface Weighing {
  k1?: number | undefined;
  b?: number | undefined;
}

const K1 = 1.2;
const B = 0.75;

/** How telling a term is that `having` of `all` passages have. */
export const weightOf = (all: number, having: number): number => Math.log(1 + (all - having + 0.5) / (having + 0.5));

/** Scores of the passages of one block, each list with its term's weight. */
export class BlockScores {
  readonly #scores = new Float64Array(BLOCK);
  readonly #touched = new Uint16Array(BLOCK);
  #count = 0;

  add(postings: Buffer, weight: number, average: number, { k1 = K1, b = B }: Weighing = {}): void {
    const scores = this.#scores;
    const top = weight * (k1 + 1);
    const [flat, slope] = [k1 * (1 - b), (k1 * b * 2) / average];
    for (let at = 0; at < postings.length; at += ENTRY) {
      const slot = (postings[at]! << 8) | postings[at + 1]!;
      const count = postings[at + 2]!;
      const before = scores[slot]!;
      if (before === 0) this.#touched[this.#count++] = slot;
      scores[slot] = before + (top * count) / (count + flat + slope * postings[at + 3]!);
    }
  }

  /** Gives away what was found, and is as new. */
  take(found: (slot: number, score: number) => void): void {
    for (let at = 0; at < this.#count; at += 1) {
      const slot = this.#touched[at]!;
      found(slot, this.#scores[slot]!);
      this.#scores[slot] = 0;
    }
    this.#count = 0;
  }
}
