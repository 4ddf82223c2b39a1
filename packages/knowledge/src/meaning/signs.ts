/** Signs of many texts' numbers, one bit each: in how many they differ from a question's says roughly how near it is. */

/** So many of a text's signs are kept in a process: by these the likely ones are found. */
const KEPT_SIGNS = 512;
const WORD = 32;

export const wordsFor = (dimension: number): number => Math.ceil(Math.min(dimension, KEPT_SIGNS) / WORD);

/** The first signs of a question, as PostgreSQL sends bits: the first is the highest of its byte. */
export function signsOf(vector: Float32Array): Int32Array {
  const signs = new Int32Array(wordsFor(vector.length));
  for (let at = 0; at < Math.min(vector.length, KEPT_SIGNS); at += 1)
    if (vector[at]! > 0) signs[at >> 5]! |= 1 << (WORD - 1 - (at & (WORD - 1)));
  return signs;
}

/** The same of a text, four bytes at a time; those that are missing at the end are 0. */
export function putSigns(bytes: Buffer, from: number, signs: Int32Array, at: number, words: number): void {
  for (let word = 0; word < words; word += 1) {
    const place = from + 4 * word;
    signs[at + word] =
      place + 4 <= bytes.length
        ? bytes.readInt32BE(place)
        : ((bytes[place] ?? 0) << 24) | ((bytes[place + 1] ?? 0) << 16) | ((bytes[place + 2] ?? 0) << 8);
  }
}

/** In how many signs each text differs from the question. */
export function differences(signs: Int32Array, question: Int32Array, count: number, far: Uint16Array): void {
  const words = question.length;
  for (let text = 0, at = 0; text < count; text += 1) {
    // Ones of each byte of a word, added up: 16 words come to 128 at most.
    let sum = 0;
    for (let word = 0; word < words; word += 1, at += 1) {
      let ones = signs[at]! ^ question[word]!;
      ones -= (ones >>> 1) & 0x55555555;
      ones = (ones & 0x33333333) + ((ones >>> 2) & 0x33333333);
      sum += (ones + (ones >>> 4)) & 0x0f0f0f0f;
    }
    sum = (sum & 0x00ff00ff) + ((sum >>> 8) & 0x00ff00ff);
    far[text] = (sum & 0xffff) + (sum >>> 16);
  }
}

/** The places of those that differ least: `most` of them, and all that are as near as the last. */
export function leastOf(far: Uint16Array, count: number, most: number): number[] {
  const having = new Uint32Array(KEPT_SIGNS + 1);
  for (let text = 0; text < count; text += 1) having[far[text]!]! += 1;
  let [bound, sum] = [0, having[0]!];
  while (sum < most && bound < KEPT_SIGNS) sum += having[(bound += 1)]!;
  const found: number[] = [];
  for (let text = 0; text < count; text += 1) if (far[text]! <= bound) found.push(text);
  return found;
}
