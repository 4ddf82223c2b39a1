import { useEffect, useState } from 'react';
import { copyText } from '../copying.ts';
import { states } from '../texts/common.ts';

const SHOWN_MS = 3000;

/** Copies a text and tells for a moment how that went: `said` is for who cannot see it. */
export function useCopy(): { done: boolean; said: string; copy: (text: string) => void } {
  const [went, setWent] = useState<{ well: boolean }>();
  useEffect(() => {
    if (!went) return;
    const timer = setTimeout(() => setWent(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [went]);
  return {
    done: went?.well === true,
    said: went === undefined ? '' : went.well ? states.copied : states.notCopied,
    copy: (text) => void copyText(text).then((well) => setWent({ well })),
  };
}
