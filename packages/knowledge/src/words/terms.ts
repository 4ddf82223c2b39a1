import { datesIn } from './dates.ts';
import { stem } from './stem.ts';
import { isCommonPair, pairsOf, partsOf } from './unspaced.ts';

/**
 * What a text is found by. One way for passages and questions, in PostgreSQL and SQLite: small letters without accents,
 * the stem of each word, days and months in one form however they are written, and what is put together (`AB-12`, `v2.1`)
 * whole and in parts.
 */

/** In so many texts that they tell nothing; the words of questions too. */
const COMMON = new Set(
  'a about an and any are as at be been being but by can could did do does doing for from had has have having he her here him his how i if in into is it its let me my no not of on or our she should so some such than that the their them then there these they this those to up us was we were what when where which while who whom whose why will with would you your'.split(
    ' ',
  ),
);

const MAX_LETTERS = 64;
const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’][\p{L}]+)?/gu;
/** Letters and figures that a sign joins: numbers of parts, versions, sums. Bounded, or a long word takes for ever. */
const JOINED = /(?<![\p{L}\p{N}])[\p{L}\p{N}]{1,32}(?:[-_./:,][\p{L}\p{N}]{1,32}){1,8}/gu;

const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .normalize('NFKC')
    .toLowerCase();

/** Without the ending of a possessive, and what an apostrophe has shortened. */
const bare = (word: string): string => word.replace(/['’](?:s|re|ve|ll|d|m|t)$/u, '').replaceAll(/['’]/gu, '');

/** Those of a word; none: it tells nothing. */
function* ofWord(word: string, asked: boolean): Generator<string> {
  for (const { text, isRun } of partsOf(word)) {
    if (isRun) {
      // The last character alone would find too much, unless a question has nothing else.
      const pairs = pairsOf(text).filter((pair, index) => !asked || index === 0 || Array.from(pair).length === 2);
      yield* asked ? pairs.filter((pair) => !isCommonPair(pair)) : pairs;
      continue;
    }
    const said = bare(plain(text));
    if (said === '' || COMMON.has(said) || said.length > MAX_LETTERS) continue;
    if (said.length > 1 || /\d/.test(said)) yield stem(said);
  }
}

/** Figures in groups are one number; anything else that is joined is also found whole. */
function* joinedIn(text: string): Generator<string> {
  for (const [whole] of text.matchAll(JOINED)) {
    if (whole.length > MAX_LETTERS || !/\d/.test(whole)) continue;
    yield plain(whole).replaceAll(/[-_./:,]/g, '');
  }
}

/** What words come to: most words of a document stand in it many times. */
export type KnownWords = Map<string, readonly string[]>;
const MAX_KNOWN = 50_000;

function ofKnown(word: string, known: KnownWords): readonly string[] {
  const before = known.get(word);
  if (before) return before;
  const terms = [...ofWord(word, false)];
  if (known.size < MAX_KNOWN) known.set(word, terms);
  return terms;
}

/** In the order of the text, as often as they stand in it. */
export function termsOf(text: string, known: KnownWords = new Map()): string[] {
  const terms: string[] = [];
  for (const [word] of text.matchAll(WORDS)) for (const term of ofKnown(word, known)) terms.push(term);
  terms.push(...joinedIn(text), ...datesIn(text));
  return terms;
}

const MAX_TERMS = 32;
/** Pairs of one run say less than words. */
const MAX_ASKED = 64;

/** What a question looks for, each once. */
export function askedFor(question: string): string[] {
  const terms = new Set<string>();
  for (const [word] of question.matchAll(WORDS)) for (const term of ofWord(word, true)) terms.add(term);
  for (const term of [...joinedIn(question), ...datesIn(question)]) terms.add(term);
  let words = 0;
  return [...terms]
    .filter((term) => partsOf(term).next().value?.isRun || (words += 1) <= MAX_TERMS)
    .slice(0, MAX_ASKED);
}
