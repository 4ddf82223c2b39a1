/** What is kept in this browser for the person who is signed in, until they sign out: drafts and letters not sent. */
const PREFIX = 'troupe:';

export function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // The store is full or switched off: the page itself still has it.
  }
}

export function kept(key: string): unknown {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function forget(key: string): void {
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // Switched off: there is nothing to forget.
  }
}

export function forgetAll(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
}
