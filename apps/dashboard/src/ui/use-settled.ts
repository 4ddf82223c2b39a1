import { useEffect, useState } from 'react';

/** Of silence after a key, before it is asked for: who types quickly asks once. */
const SETTLED_MS = 200;

/** What is typed, once nothing else was typed for a moment. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
