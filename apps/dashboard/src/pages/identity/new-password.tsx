import { auth } from '../../texts/public.ts';
import { TextField } from '../../ui/field.tsx';

/** A password that somebody chooses; how long it has to be is said beneath. */
export function NewPassword({
  label,
  name = 'password',
  value,
  onChange,
}: {
  label: string;
  /** As it is called in what is sent. */
  name?: string;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <TextField
      label={label}
      hint={auth.passwordHint}
      name={name}
      type="password"
      autoComplete="new-password"
      required
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
