import { searchWords } from './search-words.ts';

/** PostgreSQL takes neither zero characters nor halves of a character; a tool may well print both. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');
/** How JSON writes what must not be stored. A text that spells it out looks alike, and is only looked at again. */
const SUSPECT = /\\u(?:0000|d[89a-f])/;
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!SUSPECT.test(text)) return text;
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'string' ? storable(inner) : inner));
}

/** A search for entries with some of these words; PostgreSQL stems them as it does those of the entries. */
export const wanted = (words: readonly string[]): string => words.join(' ');
/** A search for entries with a word that begins like one of these. */
export const begun = (words: readonly string[]): string => words.map((word) => `${word}:*`).join(' | ');
export const wantedWords = (query: string): string => wanted(searchWords(query));
