/** Opens the search over everything, from wherever somebody asks for it. */

const OPEN = 'troupe-search';

export const openSearch = (): void => void dispatchEvent(new Event(OPEN));

export function onOpenSearch(open: () => void): () => void {
  addEventListener(OPEN, open);
  return () => removeEventListener(OPEN, open);
}
