/** Chinese and Japanese put no spaces between words: each character with the next stands for one. */

const LETTERS =
  '\\u3005\\u3006\\u3040-\\u30ff\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff66-\\uff9f\\u{20000}-\\u{3ffff}';
const PARTS = new RegExp(`([${LETTERS}]+)|[^${LETTERS}]+`, 'gu');

const COMMON = new Set(
  '什么 怎么 哪里 哪个 为什 我的 你的 他的 她的 我们 你们 他们 这个 那个 是什 是我 是谁 的是 一个 です ます すか した して ない から まで こと もの これ それ この その ある いる では には とは のは のが'.split(
    ' ',
  ),
);

export const isCommonPair = (pair: string): boolean => COMMON.has(pair);

/** Each character with the next, and the last one alone, so that every character begins something. */
export const pairsOf = (run: string): string[] => {
  const letters = Array.from(run);
  return letters.map((letter, index) => letter + (letters[index + 1] ?? ''));
};

/** A word as it is written, cut where its letters change between the two ways of writing. */
export function* partsOf(word: string): Generator<{ text: string; isRun: boolean }> {
  for (const [text, run] of word.matchAll(PARTS)) yield { text, isRun: run !== undefined };
}
