import { useSyncExternalStore } from 'react';
import type { Conversation } from './conversation.ts';
import { transcript } from './transcript.ts';

/** The words as they stand: those that are said, and those that are being written. */
export function useWords({ steps, writing }: Conversation): string {
  const live = useSyncExternalStore(writing.subscribe, writing.text);
  const turns = transcript(steps ?? []).flatMap((turn) => {
    if (turn.kind === 'agent' || turn.kind === 'note') return turn.text === '' ? [] : [turn.text];
    return [];
  });
  return [...turns, ...(live === '' ? [] : [live])].join('\n\n');
}
