/** What is written between commas; capitals do not make another tag. */
export const tagsIn = (text: string): string[] => [
  ...new Map(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean)
      .map((tag) => [tag.toLowerCase(), tag]),
  ).values(),
];

export const withTag = (tags: readonly string[], word: string): string[] => tagsIn([...tags, word].join(','));

/** Agents with this tag stand in the sidebar. */
const PINNED = 'pinned';

export const isPinned = ({ tags }: { tags: readonly string[] }): boolean =>
  tags.some((tag) => tag.toLowerCase() === PINNED);

export const withPin = (tags: readonly string[], isWanted: boolean): string[] =>
  isWanted ? withTag(tags, PINNED) : tags.filter((tag) => tag.toLowerCase() !== PINNED);

/** Puts something into a file of the person's. */
export function download(name: string, value: unknown): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
