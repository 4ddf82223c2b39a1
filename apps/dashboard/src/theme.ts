import { useSyncExternalStore } from 'react';

/** The theme lives on the document element, where before.js puts it before the first paint. */
const current = () => document.documentElement.dataset['theme'] ?? 'light';

export function toggleTheme(): void {
  const next = current() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = next;
  localStorage.setItem('theme', next);
}

export const useTheme = () =>
  useSyncExternalStore((changed) => {
    const watcher = new MutationObserver(changed);
    watcher.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => watcher.disconnect();
  }, current);
