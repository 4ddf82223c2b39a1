import type { InboxMark } from '@troupe/contract';
import { ago } from '../../../format.ts';
import { inbox as texts } from '../../../texts/access.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty } from '../../../ui/states.tsx';
import { canUndo } from './waiting.ts';

/** What was decided, and what somebody was done with, the newest first. */
export function DoneList({ marks, onUndo }: { marks: readonly InboxMark[]; onUndo: (mark: InboxMark) => void }) {
  const done = marks.filter(({ state }) => state !== 'later');
  if (done.length === 0) return <Empty title={texts.noDone}>{texts.noDoneHint}</Empty>;
  return (
    <ul className="max-w-3xl divide-y divide-line rounded-2xl border border-line bg-surface px-5 shadow-low">
      {done.map((mark) => (
        <li key={mark.item} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 py-3">
          <span className="min-w-0 flex-1">
            <span className="line-clamp-3 break-words" dir="auto">
              {mark.words || mark.item}
            </span>
            <span className="text-[0.85rem] text-ink-faint">{ago(mark.markedAt)}</span>
          </span>
          {canUndo(mark) && (
            <Button small aria-label={texts.undoNamed(mark.words)} onClick={() => onUndo(mark)}>
              {texts.undo}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
