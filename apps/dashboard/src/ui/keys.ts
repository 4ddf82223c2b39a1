import { useEffect, useRef } from 'react';

/** Keys of one letter. They do nothing while somebody types, while a dialog is open, and where they are switched off. */

/** Like the theme it belongs to the browser, not to who is signed in. */
const SWITCH = 'single-keys';

export const areKeysOn = (): boolean => localStorage.getItem(SWITCH) !== 'off';
export const switchKeys = (on: boolean): void => localStorage.setItem(SWITCH, on ? 'on' : 'off');

const TYPED_IN = 'input, textarea, select, [contenteditable], [role=combobox]';
/** What comes up to be read and goes by itself says that it is a dialog, too: it lies beside the page, not over it. */
const DIALOG = '[role=dialog]:not([data-news]), [role=alertdialog]:not([data-news])';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(TYPED_IN) !== null;

/** Whether a key is meant for the page itself. */
export const isForPage = ({ target, ctrlKey, metaKey, altKey, defaultPrevented }: KeyboardEvent): boolean =>
  !defaultPrevented &&
  !ctrlKey &&
  !metaKey &&
  !altKey &&
  areKeysOn() &&
  !isTyping(target) &&
  document.querySelector(DIALOG) === null;

/**
 * Whether a key sends what somebody writes. A thumb has no Shift to break a line with: there Enter breaks it, the
 * button sends, and so does Ctrl Enter of a keyboard that is attached.
 */
export function isSending(event: {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  nativeEvent: { isComposing: boolean };
}): boolean {
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return false;
  return event.ctrlKey || event.metaKey || !matchMedia('(pointer: coarse)').matches;
}

/** Keys of a page, wherever the focus is on it. True: the key was for something. */
export function usePageKeys(act: (key: string) => boolean): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isForPage(event) && latest.current(event.key)) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
