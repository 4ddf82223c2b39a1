/** More than these nobody looks through. */
export const MOST_FOUND = 40;

interface Named {
  label: string;
  group: string;
  also?: string | undefined;
}

/** How near the words are: 0 is the name itself, 4 is only in what stands beside it. */
function rankOf({ label }: Named, text: string, words: readonly string[]): number {
  const name = label.toLowerCase();
  if (name === text) return 0;
  if (name.startsWith(text)) return 1;
  if (words.every((word) => name.startsWith(word) || name.includes(` ${word}`))) return 2;
  return words.every((word) => name.includes(word)) ? 3 : 4;
}

/** What has all the words, in any order: the nearest first, else in the order in which it is given. */
export function findCommands<Command extends Named>(
  commands: readonly Command[],
  text: string,
): { found: Command[]; more: number } {
  const typed = text.trim().toLowerCase();
  const words = typed.split(/\s+/).filter(Boolean);
  const hasAll = ({ label, group, also = '' }: Command) => {
    const where = `${label} ${group} ${also}`.toLowerCase();
    return words.every((word) => where.includes(word));
  };
  const matching = commands.filter(hasAll);
  const ranks = new Map(matching.map((command) => [command, rankOf(command, typed, words)]));
  const ranked = words.length === 0 ? matching : matching.toSorted((a, b) => ranks.get(a)! - ranks.get(b)!);
  return { found: ranked.slice(0, MOST_FOUND), more: Math.max(0, ranked.length - MOST_FOUND) };
}

/** Where an arrow leads among so many; undefined: the key is no arrow. */
export function movedBy(key: string, at: number, count: number): number | undefined {
  if (key === 'ArrowDown') return Math.max(0, Math.min(count - 1, at + 1));
  if (key === 'ArrowUp') return Math.max(0, at - 1);
  return undefined;
}
