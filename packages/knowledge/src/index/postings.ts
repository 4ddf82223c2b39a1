/** The postings of a term in a block: four bytes for each passage, see the table. */

export const BLOCK = 4096;
const ENTRY = 4;

export const blockOf = (number: number): number => Math.floor(number / BLOCK);
export const countOf = (postings: Uint8Array): number => postings.length / ENTRY;

/** What a list has for a passage, by its place in the block. */
export const entryOf = (slot: number, count: number, words: number): [number, number, number, number] => [
  slot >> 8,
  slot & 255,
  Math.min(255, count),
  Math.min(255, Math.ceil(words / 2)),
];

export interface Counted {
  /** A line each, and a character's code for how often each stands there. */
  terms: string;
  counts: string;
  words: number;
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.split('\n'));

/** Terms of passages that are looked at before others have their turn: two milliseconds of work. */
const AT_ONCE = 5000;

/** By block and term, for passages that are numbered from `first` on. A large document has millions: others go on meanwhile. */
export async function postingsOf(
  passages: readonly Counted[],
  first: number,
): Promise<Map<number, Map<string, number[]>>> {
  const blocks = new Map<number, Map<string, number[]>>();
  let work = 0;
  for (const [index, { terms: lines, counts, words }] of passages.entries()) {
    const terms = linesOf(lines);
    const number = first + index;
    const slot = number % BLOCK;
    const block = blocks.get(blockOf(number)) ?? new Map<string, number[]>();
    blocks.set(blockOf(number), block);
    for (const [at, term] of terms.entries()) {
      const entry = entryOf(slot, counts.charCodeAt(at), words);
      const list = block.get(term);
      if (list) list.push(...entry);
      else block.set(term, entry);
    }
    work += terms.length;
    if (work < AT_ONCE) continue;
    work = 0;
    await new Promise(setImmediate);
  }
  return blocks;
}

/** Without the passages from slot `from` up to, and without, slot `to`. */
export function without(postings: Uint8Array, from: number, to: number): Buffer {
  const kept: Uint8Array[] = [];
  for (let at = 0; at < postings.length; at += ENTRY) {
    const slot = (postings[at]! << 8) | postings[at + 1]!;
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

/** Where the list of a term has this slot; its entries go by slot. -1: nowhere. */
function find(postings: Uint8Array, slot: number): number {
  let [low, high] = [0, postings.length / ENTRY - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const at = middle * ENTRY;
    const found = (postings[at]! << 8) | postings[at + 1]!;
    if (found === slot) return at;
    if (found < slot) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/** What a list adds to scores, each slot at the place that `order` has for it; -1: nowhere. */
export function addScores(
  postings: Uint8Array,
  { weight, average }: { weight: number; average: number },
  order: Int32Array,
  scores: Float64Array,
): void {
  const top = weight * (K1 + 1);
  const [flat, slope] = [K1 * (1 - B), (K1 * B * 2) / average];
  for (let at = 0; at < postings.length; at += ENTRY) {
    const place = order[(postings[at]! << 8) | postings[at + 1]!]!;
    const count = postings[at + 2]!;
    if (place >= 0) scores[place]! += (top * count) / (count + flat + slope * postings[at + 3]!);
  }
}

interface Weighed {
  postings: Uint8Array;
  weight: number;
}

/** Looking up one is worth so many that are walked over. */
const LOOK_UP = 12;

/** Scores of the passages of one block, each list with its term's weight. */
export class BlockScores {
  readonly #scores = new Float64Array(BLOCK);
  readonly #touched = new Uint16Array(BLOCK);
  readonly #likely = new Uint16Array(BLOCK);
  #count = 0;

  add(postings: Uint8Array, weight: number, average: number, { k1 = K1, b = B }: Weighing = {}): void {
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

  /** As all of them, the heaviest first, but for passages that cannot score `least`: those may get less, or nothing. */
  addBest(lists: readonly Weighed[], least: number, average: number, how: Weighing = {}): void {
    const { k1 = K1 } = how;
    let left = lists.reduce((sum, { weight }) => sum + weight * (k1 + 1), 0);
    for (const { postings, weight } of lists) {
      if (left >= least) this.add(postings, weight, average, how);
      else this.#addTo(this.#above(least - left), { postings, weight }, average, how);
      left -= weight * (k1 + 1);
    }
  }

  #above(score: number): Uint16Array {
    const scores = this.#scores;
    let count = 0;
    for (let at = 0; at < this.#count; at += 1) {
      const slot = this.#touched[at]!;
      if (scores[slot]! >= score) this.#likely[count++] = slot;
    }
    return this.#likely.subarray(0, count);
  }

  #addTo(slots: Uint16Array, { postings, weight }: Weighed, average: number, how: Weighing): void {
    if (slots.length * LOOK_UP > postings.length / ENTRY) return this.add(postings, weight, average, how);
    const { k1 = K1, b = B } = how;
    for (const slot of slots) {
      const at = find(postings, slot);
      if (at < 0) continue;
      const count = postings[at + 2]!;
      const length = k1 * (1 - b) + ((k1 * b * 2) / average) * postings[at + 3]!;
      this.#scores[slot]! += (weight * (k1 + 1) * count) / (count + length);
    }
  }

  /** Gives away what was found that scores `least`, which may rise meanwhile, and is as new. */
  take(least: number, found: (slot: number, score: number) => number): void {
    const scores = this.#scores;
    let bound = least;
    for (let at = 0; at < this.#count; at += 1) {
      const slot = this.#touched[at]!;
      const score = scores[slot]!;
      scores[slot] = 0;
      if (score >= bound) bound = found(slot, score);
    }
    this.#count = 0;
  }
}
