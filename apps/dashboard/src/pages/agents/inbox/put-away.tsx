import { useState } from 'react';
import { moment } from '../../../format.ts';
import { inbox as texts } from '../../../texts/access.ts';
import { Button } from '../../../ui/button.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { useMark } from './use-marks.ts';
import { laterChoices } from './waiting.ts';
import type { Waiting } from './waiting.ts';

/** When it comes back. */
export function LaterChoices({ onChoose, onBack }: { onChoose: (at: Date) => void; onBack: () => void }) {
  return (
    <div role="group" aria-label={texts.laterTitle} className="flex flex-wrap items-center gap-2">
      {laterChoices(new Date()).map(({ kind, at }, index) => (
        <Button key={kind} small autoFocus={index === 0} title={moment(at)} onClick={() => onChoose(at)}>
          {texts.laterChoices[kind]}
        </Button>
      ))}
      <Button small kind="quiet" onClick={onBack}>
        {texts.back}
      </Button>
    </div>
  );
}

/** Not now, or not at all: nothing is decided by it. */
export function PutAway({ waiting }: { waiting: Waiting }) {
  const [isOpen, setOpen] = useState(false);
  const { later, done } = useMark(waiting);
  const say = useSay();
  if (isOpen)
    return (
      <LaterChoices
        onChoose={(at) => void later(at).then((isKept) => isKept && say(texts.putOff(moment(at))))}
        onBack={() => setOpen(false)}
      />
    );
  return (
    <>
      <Button small kind="quiet" data-act="s" onClick={() => setOpen(true)}>
        {texts.later}
      </Button>
      <Button small kind="quiet" data-act="e" onClick={() => void done()}>
        {texts.done}
      </Button>
    </>
  );
}
