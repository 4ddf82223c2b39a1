/**
 * By the browser's older way, which asks for no secure address: the platform of another machine in the house has none.
 * Some browsers copy only where something is marked, and a dialog keeps them from marking what is outside of it.
 */
function copyByMark(text: string): boolean {
  const put = (event: ClipboardEvent) => {
    event.preventDefault();
    event.clipboardData?.setData('text/plain', text);
  };
  const marked = getSelection();
  const before = marked?.rangeCount ? marked.getRangeAt(0) : undefined;
  const span = document.createElement('span');
  span.textContent = text;
  span.className = 'sr-only select-text';
  (document.activeElement?.closest('[role*=dialog]') ?? document.body).append(span);
  marked?.selectAllChildren(span);
  addEventListener('copy', put, { capture: true, once: true });
  try {
    return document.execCommand('copy');
  } finally {
    removeEventListener('copy', put, { capture: true });
    span.remove();
    marked?.removeAllRanges();
    if (before) marked?.addRange(before);
  }
}

/** Whether the text is on the clipboard now. Only in answer to a click or a key. */
export async function copyText(text: string): Promise<boolean> {
  // Where the address is not secure there is none, whatever its type says.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  try {
    if (!clipboard) return copyByMark(text);
    await clipboard.writeText(text);
    return true;
  } catch {
    // Refused: whoever asked is told.
    return false;
  }
}
