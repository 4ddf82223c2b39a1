import { useEffect, useRef } from 'react';

const FIELD = 'nav input[type=search]';

/** Ctrl F looks through every word that was said, not only what is on the screen; once more, it is the browser's own. */
export function useFindKey(openList: () => void): void {
  const open = useRef(openList);
  open.current = openList;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isFind = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key === 'f';
      if (!isFind || event.defaultPrevented || document.activeElement?.matches(FIELD)) return;
      if (document.querySelector('[role=dialog]:not([data-news]), [role=alertdialog]:not([data-news])')) return;
      event.preventDefault();
      const field = document.querySelector<HTMLInputElement>(`#content ${FIELD}`);
      if (!field?.checkVisibility()) return open.current();
      field.focus();
      field.select();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
