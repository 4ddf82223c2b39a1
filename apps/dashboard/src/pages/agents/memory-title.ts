/** About a line of the first column. */
const LENGTH = 60;

/** The first line, up to the word that still fits; without the marks of Markdown that it begins with. */
export function firstWords(text: string): string {
  const line = (text.trim().split('\n', 1)[0] ?? '').replace(/^[#>*\-\s]+/, '').replaceAll(/\s+/g, ' ');
  if (line === '') return '…';
  const letters = Array.from(line);
  if (letters.length <= LENGTH) return line === text.trim() ? line : `${line} …`;
  const cut = letters.slice(0, LENGTH).join('');
  const space = cut.lastIndexOf(' ');
  return `${(space > LENGTH / 2 ? cut.slice(0, space) : cut).replace(/[\s,;:.]+$/, '')} …`;
}
