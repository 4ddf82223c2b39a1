import { useCallback, useLayoutEffect, useRef } from 'react';

/**
 * What somebody types after having asked for the search and before it is there: it is loaded when it is wanted first. The
 * letters belong to the search, not to the page behind it. Answers them once.
 */
export function useTypedAhead(isOpen: boolean): () => string {
  const typed = useRef('');
  useLayoutEffect(() => {
    if (!isOpen) return;
    typed.current = '';
    const onKey = (event: KeyboardEvent) => {
      const isThere = event.target instanceof Element && event.target.closest('[role=dialog]') !== null;
      if (isThere || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Backspace') typed.current = typed.current.slice(0, -1);
      else if (event.key.length === 1) typed.current += event.key;
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  }, [isOpen]);
  return useCallback(() => {
    const text = typed.current;
    typed.current = '';
    return text;
  }, []);
}
