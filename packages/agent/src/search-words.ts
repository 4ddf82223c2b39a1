const MAX_WORDS = 24;
const MIN_LETTERS = 2;
const COMMON = new Set(
  'a an and are as at be can did do does for from had has have he her his how i in is it its me my of on or our she so that the their them they this to us was we what when where which who why will with you your'.split(
    ' ',
  ),
);

/** The words of a question that are worth looking for; both stores match their beginnings, any of them. */
export function searchWords(query: string): string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const wanted = words.filter((word) => word.length >= MIN_LETTERS && !COMMON.has(word));
  // Endings go, because the beginning of "colours" does not match "colour"; three letters stay, or "thing" finds "the".
  return [...new Set(wanted.map((word) => word.replace(/(?<=^.{3,})(ing|ed|es|s)$/u, '')))].slice(0, MAX_WORDS);
}
