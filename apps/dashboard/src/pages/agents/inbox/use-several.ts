import { useState } from 'react';
import { isAlike } from './alike.ts';
import type { Waiting } from './waiting.ts';

/** What is chosen of a list. What has gone meanwhile is not chosen any more. */
export function useSeveral(items: readonly Waiting[]) {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  return {
    chosen: items.filter(({ key }) => keys.has(key)),
    has: ({ key }: Waiting) => keys.has(key),
    toggle: ({ key }: Waiting) =>
      setKeys((old) => (old.has(key) ? new Set([...old].filter((one) => one !== key)) : new Set([...old, key]))),
    addAlike: (like: Waiting) =>
      setKeys((old) => new Set([...old, ...items.filter((one) => isAlike(like, one)).map(({ key }) => key)])),
    clear: () => setKeys(new Set()),
  };
}
