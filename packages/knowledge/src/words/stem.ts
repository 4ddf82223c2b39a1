/**
 * The stem of an English word by the rules of Porter's second algorithm, as PostgreSQL's `english` has them, so that a
 * word has one stem in every index. Words of other alphabets stay as they are.
 */

const VOWEL = /[aeiouy]/;
const isVowel = (letter: string | undefined): boolean => letter !== undefined && VOWEL.test(letter);
const isShortEnd = (word: string): boolean =>
  /^[aeiouy][^aeiouy]$/.test(word) || /[^aeiouy][aeiouy][^aeiouywxY]$/.test(word);

const WHOLE: ReadonlyMap<string, string> = new Map(
  'skis:ski skies:sky dying:die lying:lie tying:tie idly:idl gently:gentl ugly:ugli early:earli only:onli singly:singl sky:sky news:news howe:howe atlas:atlas cosmos:cosmos bias:bias andes:andes inning:inning innings:inning outing:outing outings:outing canning:canning cannings:canning herring:herring herrings:herring earring:earring earrings:earring proceed:proceed proceeds:proceed proceeded:proceed proceeding:proceed exceed:exceed exceeds:exceed exceeded:exceed exceeding:exceed succeed:succeed succeeds:succeed succeeded:succeed succeeding:succeed'
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);

/** Where the part of a word begins that endings may be taken from. */
function region(word: string, from: number): number {
  for (let at = Math.max(1, from); at < word.length; at += 1)
    if (!isVowel(word[at]) && at - 1 >= from && isVowel(word[at - 1])) return at + 1;
  return word.length;
}

function firstRegion(word: string): number {
  const known = /^(?:gener|commun|arsen)/.exec(word);
  return known ? known[0].length : region(word, 0);
}

/** A `y` that is no vowel is written large meanwhile. */
const markConsonants = (word: string): string => word.replace(/^y/, 'Y').replaceAll(/([aeiouy])y/g, '$1Y');

function plural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2);
  if (/(?:ied|ies)$/.test(word)) return word.length > 4 ? word.slice(0, -2) : word.slice(0, -1);
  if (/(?:us|ss)$/.test(word) || !word.endsWith('s')) return word;
  return VOWEL.test(word.slice(0, -2)) ? word.slice(0, -1) : word;
}

function past(word: string, r1: number): string {
  const eed = /eed(?:ly)?$/.exec(word);
  if (eed) return eed.index >= r1 ? `${word.slice(0, eed.index)}ee` : word;
  const ending = /(?:ed|edly|ing|ingly)$/.exec(word);
  if (!ending || !VOWEL.test(word.slice(0, ending.index))) return word;
  const rest = word.slice(0, ending.index);
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(rest)) return rest.slice(0, -1);
  return rest.length <= r1 && isShortEnd(rest) ? `${rest}e` : rest;
}

const SECOND: readonly [ending: string, to: string][] = [
  ['ization', 'ize'],
  ['ational', 'ate'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['iveness', 'ive'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['lessli', 'less'],
  ['entli', 'ent'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['ousli', 'ous'],
  ['iviti', 'ive'],
  ['fulli', 'ful'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['abli', 'able'],
  ['izer', 'ize'],
  ['ator', 'ate'],
  ['alli', 'al'],
  ['bli', 'ble'],
];

function second(word: string, r1: number): string {
  for (const [ending, to] of SECOND)
    if (word.endsWith(ending)) return word.length - ending.length >= r1 ? word.slice(0, -ending.length) + to : word;
  if (word.endsWith('ogi')) return word.length - 3 >= r1 && word.at(-4) === 'l' ? word.slice(0, -1) : word;
  if (word.endsWith('li')) return word.length - 2 >= r1 && /[cdeghkmnrt]li$/.test(word) ? word.slice(0, -2) : word;
  return word;
}

const THIRD: readonly [ending: string, to: string][] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['alize', 'al'],
  ['icate', 'ic'],
  ['iciti', 'ic'],
  ['ative', ''],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
];

function third(word: string, r1: number, r2: number): string {
  for (const [ending, to] of THIRD) {
    if (!word.endsWith(ending)) continue;
    return word.length - ending.length >= (ending === 'ative' ? r2 : r1) ? word.slice(0, -ending.length) + to : word;
  }
  return word;
}

const FOURTH = 'ement ance ence able ible ment ant ent ism ate iti ous ive ize al er ic'.split(' ');

function fourth(word: string, r2: number): string {
  for (const ending of FOURTH)
    if (word.endsWith(ending)) return word.length - ending.length >= r2 ? word.slice(0, -ending.length) : word;
  if (/[st]ion$/.test(word) && word.length - 3 >= r2) return word.slice(0, -3);
  return word;
}

function last(word: string, r1: number, r2: number): string {
  const at = word.length - 1;
  if (word.endsWith('e')) return at >= r2 || (at >= r1 && !isShortEnd(word.slice(0, -1))) ? word.slice(0, -1) : word;
  return word.endsWith('ll') && at >= r2 ? word.slice(0, -1) : word;
}

/** Of a word in small letters. */
export function stem(given: string): string {
  if (given.length < 3 || !/^[a-z']+$/.test(given)) return given;
  const known = WHOLE.get(given);
  if (known !== undefined) return known;
  let word = markConsonants(given.replace(/^'/, '').replace(/'(?:s'?)?$/, ''));
  const r1 = firstRegion(word);
  const r2 = region(word, r1);
  word = past(plural(word), r1);
  if (/.[^aeiouy][yY]$/.test(word)) word = `${word.slice(0, -1)}i`;
  word = last(fourth(third(second(word, r1), r1, r2), r2), r1, r2);
  return word.toLowerCase();
}
