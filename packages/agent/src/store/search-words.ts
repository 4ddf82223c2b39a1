const MAX_WORDS = 24;
const MAX_PAIRS = 48;
const MIN_LETTERS = 2;
const MAX_CHARACTERS = 4096;
const COMMON = new Set(
  'a an and are as at be can did do does for from had has have he her his how i in is it its me my of on or our she so that the their them they this to us was we what when where which who why will with you your'.split(
    ' ',
  ),
);
const COMMON_PAIRS = new Set(
  '什么 怎么 哪里 哪个 为什 我的 你的 他的 她的 我们 你们 他们 这个 那个 是什 是我 是谁 的是 一个 です ます すか した して ない から まで こと もの これ それ この その ある いる では には とは のは のが'.split(
    ' ',
  ),
);

/** What Chinese and Japanese are written with, where no spaces tell words apart; PostgreSQL's `memory_words` has the same. */
const UNSPACED =
  '\\u3005\\u3006\\u3040-\\u30ff\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff66-\\uff9f\\u{20000}-\\u{3ffff}';
const PARTS = new RegExp(`([${UNSPACED}]+)|[^${UNSPACED}]+`, 'gu');
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u');

/** Each character with the next, and the last one alone, so that every character begins something. */
const pairsOf = (run: string): string[] => {
  const letters = Array.from(run);
  return letters.map((letter, index) => letter + (letters[index + 1] ?? ''));
};

const WORD = /[\p{L}\p{N}]+/gu;

/**
 * The words of a question that are worth looking for, any of them, as they are written. Of a long text those of its
 * beginning: a message may be a quarter of a megabyte, and everybody else waits for as long as it is looked through.
 */
export function searchWords(query: string): string[] {
  const words = new Set<string>();
  const pairs = new Set<string>();
  for (const [whole] of query.slice(0, MAX_CHARACTERS).toLowerCase().matchAll(WORD)) {
    if (words.size >= MAX_WORDS && pairs.size >= MAX_PAIRS) break;
    for (const [part, run] of HAS_UNSPACED.test(whole) ? whole.matchAll(PARTS) : [[whole, undefined] as const]) {
      // The last character alone would find too much, unless there is nothing else.
      if (run !== undefined)
        for (const [index, pair] of pairsOf(run).entries()) {
          const tells = index === 0 || Array.from(pair).length === 2;
          if (tells && !COMMON_PAIRS.has(pair)) pairs.add(pair);
        }
      else if (part.length >= MIN_LETTERS && !COMMON.has(part)) words.add(part);
    }
  }
  return [...[...words].slice(0, MAX_WORDS), ...[...pairs].slice(0, MAX_PAIRS)];
}
