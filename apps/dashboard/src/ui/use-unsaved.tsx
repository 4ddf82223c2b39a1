import { useState } from 'react';
import { states } from '../texts/common.ts';
import { forgetUnsaved, keepUnsaved, unsavedIn } from '../unsaved.ts';
import { Button } from './button.tsx';

/**
 * The state of a form that outlives its page until it is saved or thrown away. `secret` fields are never kept.
 * What it began with must not change while it is open.
 */
export function useUnsaved<T extends object>(name: string, initial: T, secret: readonly (keyof T)[] = []) {
  const [begun] = useState(initial);
  const [value, setValue] = useState(() => unsavedIn(name, begun) ?? begun);
  const [isKept, setKept] = useState(value !== begun);
  const set = (change: Partial<T>) => {
    const next = { ...value, ...change };
    const open = Object.fromEntries(secret.map((field) => [field, begun[field]]));
    keepUnsaved(name, begun, { ...next, ...open });
    setValue(next);
  };
  const clear = () => forgetUnsaved(name);
  const again = () => {
    clear();
    setValue(begun);
    setKept(false);
  };
  return { value, set, clear, again, isKept };
}

/** Says that a form goes on where it was left, and how it begins anew. */
export function LeftOff({ of: { isKept, again } }: { of: Pick<ReturnType<typeof useUnsaved>, 'isKept' | 'again'> }) {
  if (!isKept) return null;
  return (
    <p role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[0.9rem] text-ink-soft">
      {states.leftOff}
      <Button small kind="quiet" onClick={again}>
        {states.beginAnew}
      </Button>
    </p>
  );
}
