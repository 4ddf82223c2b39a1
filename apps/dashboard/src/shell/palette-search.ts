/** More than these nobody looks through. */
export const MOST_FOUND = 40;

/** What has all the words, in any order, in the order in which it is given. */
export function findCommands<Command extends { label: string; group: string; also?: string | undefined }>(
  commands: readonly Command[],
  text: string,
): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hasAll = ({ label, group, also = '' }: Command) => {
    const where = `${label} ${group} ${also}`.toLowerCase();
    return words.every((word) => where.includes(word));
  };
  return commands.filter(hasAll).slice(0, MOST_FOUND);
}

/** Where an arrow leads among so many; undefined: the key is no arrow. */
export function movedBy(key: string, at: number, count: number): number | undefined {
  if (key === 'ArrowDown') return Math.max(0, Math.min(count - 1, at + 1));
  if (key === 'ArrowUp') return Math.max(0, at - 1);
  return undefined;
}
