import { useId } from 'react';
import type { InputHTMLAttributes, ReactNode, SelectHTMLAttributes, TextareaHTMLAttributes } from 'react';
import { cx } from './cx.ts';
import { useRefusal } from './form.tsx';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  /** The label is read out but not shown. */
  hideLabel?: boolean;
}

const box =
  'w-full min-h-10 rounded-lg border border-line-strong/70 bg-surface px-3 py-2 text-ink placeholder:text-ink-faint hover:border-line-strong aria-invalid:border-danger disabled:opacity-60';

function Frame({ id, label, hint, error, hideLabel, children }: FieldProps & { id: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'text-[0.9rem] font-medium text-ink'}>
        {label}
      </label>
      {children}
      {hint && (
        <p id={`${id}-hint`} className="text-[0.85rem] text-ink-faint">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} role="alert" className="text-[0.85rem] text-danger">
          {error}
        </p>
      )}
    </div>
  );
}

const describe = (id: string, { hint, error }: FieldProps) => ({
  id,
  'aria-invalid': error ? true : undefined,
  'aria-describedby': cx(hint ? `${id}-hint` : '', error ? `${id}-error` : '') || undefined,
});

export function TextField({
  label,
  hint,
  error,
  hideLabel,
  mono,
  className,
  ...rest
}: FieldProps & { mono?: boolean } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  const refused = useRefusal(rest.name);
  const frame = { label, hint, error: error ?? refused, hideLabel };
  return (
    <Frame id={id} {...frame}>
      <input {...describe(id, frame)} className={cx(box, mono && 'font-mono text-[0.9rem]', className)} {...rest} />
    </Frame>
  );
}

export function TextArea({
  label,
  hint,
  error,
  hideLabel,
  mono,
  className,
  ...rest
}: FieldProps & { mono?: boolean } & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  const refused = useRefusal(rest.name);
  const frame = { label, hint, error: error ?? refused, hideLabel };
  return (
    <Frame id={id} {...frame}>
      <textarea
        rows={4}
        {...describe(id, frame)}
        className={cx(box, 'resize-y leading-relaxed', mono && 'font-mono text-[0.87rem]', className)}
        {...rest}
      />
    </Frame>
  );
}

export interface Choice {
  value: string;
  label: string;
}

/** The platform's own select: it works with every keyboard, screen reader and phone. */
export function SelectField({
  label,
  hint,
  error,
  hideLabel,
  choices,
  className,
  ...rest
}: FieldProps & { choices: readonly Choice[] } & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId();
  const refused = useRefusal(rest.name);
  const frame = { label, hint, error: error ?? refused, hideLabel };
  return (
    <Frame id={id} {...frame}>
      <select {...describe(id, frame)} className={cx(box, 'pr-8', className)} {...rest}>
        {choices.map(({ value, label: text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Frame>
  );
}

export function CheckField({
  label,
  hint,
  ...rest
}: { label: string; hint?: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className="flex items-start gap-3">
      <input
        id={id}
        type="checkbox"
        aria-describedby={hint ? `${id}-hint` : undefined}
        className="mt-1 size-4.5 shrink-0 accent-accent"
        {...rest}
      />
      <div className="min-w-0">
        <label htmlFor={id}>{label}</label>
        {hint && (
          <p id={`${id}-hint`} className="text-[0.85rem] text-ink-faint">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

/** One of a few, all of them in sight: for a choice that is to be understood before it is made. */
export function PickOne({
  label,
  hint,
  choices,
  value,
  onChange,
  autoFocus,
}: {
  label: string;
  hint?: ReactNode;
  choices: readonly Choice[];
  value: string;
  onChange: (value: string) => void;
  autoFocus?: boolean;
}) {
  const id = useId();
  return (
    <fieldset className="flex min-w-0 flex-col gap-2" aria-describedby={hint ? id : undefined}>
      <legend className="mb-1.5 text-[0.9rem] font-medium text-ink">{label}</legend>
      {choices.map((choice) => (
        <label
          key={choice.value}
          className="flex min-h-10 cursor-pointer items-center gap-3 rounded-lg border border-line bg-surface px-3 py-2 text-ink has-checked:border-accent has-checked:bg-accent-soft pointer-coarse:min-h-[44px]"
        >
          <input
            type="radio"
            name={id}
            value={choice.value}
            autoFocus={autoFocus && choice.value === value}
            className="size-4.5 shrink-0 accent-accent"
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          <span className="min-w-0 wrap-anywhere" dir="auto">
            {choice.label}
          </span>
        </label>
      ))}
      {hint && (
        <p id={id} className="text-[0.85rem] text-ink-faint">
          {hint}
        </p>
      )}
    </fieldset>
  );
}

/** A group of toggles, for tools and the like. */
export function PickMany({
  label,
  hideLabel,
  choices,
  value,
  onChange,
}: Pick<FieldProps, 'label' | 'hideLabel'> & {
  choices: (Choice & { hint?: string; disabled?: boolean })[];
  value: string[];
  onChange: (value: string[]) => void;
}) {
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className={hideLabel ? 'sr-only' : 'mb-1.5 text-[0.9rem] font-medium'}>{label}</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {choices.map((choice) => (
          <label
            key={choice.value}
            className="flex cursor-pointer gap-3 rounded-lg border border-line bg-surface p-3 has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="checkbox"
              className="mt-0.5 size-4.5 shrink-0 accent-accent"
              checked={value.includes(choice.value)}
              disabled={choice.disabled}
              onChange={({ target }) =>
                onChange(target.checked ? [...value, choice.value] : value.filter((item) => item !== choice.value))
              }
            />
            <span className="min-w-0">
              <span className="block font-medium">{choice.label}</span>
              {choice.hint && <span className="block text-[0.85rem] text-ink-soft">{choice.hint}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
