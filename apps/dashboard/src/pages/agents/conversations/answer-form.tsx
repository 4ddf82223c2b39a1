import { ANSWER_LENGTH } from '@troupe/contract';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../../../ui/button.tsx';
import { TextArea } from '../../../ui/field.tsx';

interface Props {
  label: string;
  hint?: string;
  action: string;
  busy: boolean;
  autoFocus?: boolean;
  onSend: (answer: string) => void;
  /** What else can be done, beside the button. */
  children?: ReactNode;
}

/** Shows all of what has just opened, as far as there is room. */
export const inSight = (node: HTMLElement | null): void => node?.scrollIntoView({ block: 'nearest' });

/** A few words for an agent that waits: an answer, or why not. */
export function AnswerForm({ label, hint, action, busy, autoFocus, onSend, children }: Props) {
  const [answer, setAnswer] = useState('');
  return (
    <form
      // On a phone what opens is below what is in sight.
      ref={autoFocus ? inSight : undefined}
      className="flex min-w-0 flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(answer);
      }}
    >
      <TextArea
        label={label}
        hint={hint}
        rows={2}
        required
        autoFocus={autoFocus}
        maxLength={ANSWER_LENGTH}
        value={answer}
        onChange={({ target }) => setAnswer(target.value)}
      />
      <Ends action={action} busy={busy}>
        {children}
      </Ends>
    </form>
  );
}

/** The button that sends, and what else can be done. */
export const Ends = ({ action, busy, children }: Pick<Props, 'action' | 'busy' | 'children'>) => (
  <div className="flex flex-wrap gap-2">
    <Button small kind="primary" type="submit" disabled={busy}>
      {action}
    </Button>
    {children}
  </div>
);
