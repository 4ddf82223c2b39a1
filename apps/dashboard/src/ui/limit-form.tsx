import { useState } from 'react';
import type { ReactNode } from 'react';
import { numberOf } from '../checks.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';
import { SelectField, TextField } from './field.tsx';
import { Form, Refused } from './form.tsx';

interface LimitWords {
  limit: string;
  period: string;
  set: string;
}

interface LimitProps<P extends string> {
  words: LimitWords;
  /** With one there is nothing to choose. */
  periods: readonly { value: P; label: string }[];
  /** Chosen unless somebody chooses another. */
  first: P;
  /** What it is so far; its field has the focus then. */
  was?: number;
  busy: boolean;
  error: Error | null;
  /** Where the page's main action is another. */
  isQuiet?: boolean;
  className?: string;
  /** What else is chosen. */
  before?: ReactNode;
  /** What else can be done. */
  after?: ReactNode;
  onSet: (limit: number, period: P) => void;
}

/** So much money in so long. */
export function LimitForm<P extends string>({
  words,
  periods,
  first,
  was,
  busy,
  error,
  isQuiet,
  className,
  before,
  after,
  onSet,
}: LimitProps<P>) {
  const [limit, setLimit] = useState(was === undefined ? '' : String(was));
  const [chosen, setChosen] = useState(first);
  const period = periods.some(({ value }) => value === chosen) ? chosen : periods[0]!.value;
  return (
    <Form
      error={error}
      fields={[]}
      onSubmit={() => onSet(numberOf(limit), period)}
      className={cx('flex flex-wrap items-end gap-3', className)}
    >
      {before}
      <div className="w-36">
        <TextField
          label={words.limit}
          type="number"
          step="any"
          required
          autoFocus={was !== undefined}
          value={limit}
          onChange={({ target }) => setLimit(target.value)}
        />
      </div>
      {periods.length > 1 && (
        <div className="min-w-28">
          <SelectField
            label={words.period}
            value={period}
            onChange={({ target }) => setChosen(target.value as P)}
            choices={periods}
          />
        </div>
      )}
      <Button kind={isQuiet ? 'plain' : 'primary'} type="submit" busy={busy}>
        {words.set}
      </Button>
      {after}
      <div className="basis-full empty:hidden">
        <Refused error={error} />
      </div>
    </Form>
  );
}
