import { createContext, useContext, useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { refusal } from '../checks.ts';
import { Notice } from './card.tsx';

/** What was refused in the form around: by the name of the field, and of the whole. */
const Refusals = createContext<ReturnType<typeof refusal> | undefined>(undefined);

/** After a try that was refused, the first field that is to blame has the focus: it may be far from the button. */
function useFirstRefused(error: Error | null) {
  const form = useRef<HTMLFormElement>(null);
  const isTried = useRef(false);
  useEffect(() => {
    if (!error || !isTried.current) return;
    isTried.current = false;
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return { form, tried: () => void (isTried.current = true) };
}

/** The first field that has to be filled in and is not. */
const missingIn = (form: HTMLFormElement): HTMLInputElement | undefined =>
  ([...form.elements] as HTMLInputElement[]).find((field) => field.validity?.valueMissing);

/**
 * A form whose rules are the contract's: of the browser's own checks only that something is there is made, and what the
 * contract refuses stands at the field of that name. `fields`: those that are there.
 */
export function Form({
  error,
  fields,
  onSubmit,
  className = 'flex flex-col gap-4',
  children,
}: {
  error: Error | null;
  fields: readonly string[];
  onSubmit: () => void;
  className?: string;
  children: ReactNode;
}) {
  const { form, tried } = useFirstRefused(error);
  return (
    <Refusals value={refusal(error, fields)}>
      <form
        ref={form}
        noValidate
        className={className}
        onSubmit={(event) => {
          event.preventDefault();
          const missing = missingIn(event.currentTarget);
          if (missing) return void missing.reportValidity();
          tried();
          onSubmit();
        }}
      >
        {children}
      </form>
    </Refusals>
  );
}

export function useRefusal(name: string | undefined): string | undefined {
  const around = useContext(Refusals);
  return name === undefined ? undefined : around?.at[name];
}

/** What was refused and stands at no field; where no `Form` is around, all that was. */
export function Refused({ error }: { error: Error | null }) {
  const around = useContext(Refusals);
  const text = around ? around.rest : error?.message;
  return text === undefined ? null : <Notice tone="danger">{text}</Notice>;
}
