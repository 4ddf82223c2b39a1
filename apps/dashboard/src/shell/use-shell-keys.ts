import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { usePageKeys } from '../ui/keys.ts';

/** After `g`: where to. */
const PLACES: Readonly<Record<string, string>> = {
  s: '/dashboard',
  i: '/dashboard/inbox',
  a: '/dashboard/agents',
  t: '/dashboard/tasks',
  m: '/dashboard/cost',
};
const SECOND_MS = 1500;

/** The field that narrows down what the page lists; false: it has none. */
function enterFilter(): boolean {
  const field = document.querySelector<HTMLInputElement>('#content input[type=search]');
  field?.focus();
  field?.select();
  return field !== null;
}

/** Keys that mean the same on every page. */
export function useShellKeys({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }): void {
  const navigate = useNavigate();
  const goneAt = useRef(0);
  usePageKeys((key) => {
    const isSecond = Date.now() - goneAt.current < SECOND_MS;
    goneAt.current = 0;
    const to = isSecond ? PLACES[key] : undefined;
    if (to !== undefined) void navigate({ to });
    else if (key === 'g') goneAt.current = Date.now();
    else if (key === '?') onHelp();
    else if (key !== '/') return false;
    else if (!enterFilter()) onSearch();
    return true;
  });
}
