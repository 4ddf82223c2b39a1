/** By characters: half of one is no text. */
const cut = (text: string, length: number): string => Array.from(text).slice(0, length).join('').trimEnd();

const same = (name: string): string => name.trim().toLowerCase();

/** The name, or the first with a number behind it that nobody of these has. */
export function freeName(name: string, taken: Iterable<string>, longest: number): string {
  const isTaken = new Set([...taken].map(same));
  if (!isTaken.has(same(name))) return name;
  for (let number = 2; ; number += 1) {
    const tried = `${cut(name.trim(), longest - String(number).length - 1)} ${number}`;
    if (!isTaken.has(same(tried))) return tried;
  }
}
