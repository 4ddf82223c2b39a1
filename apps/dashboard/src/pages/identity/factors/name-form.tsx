import { useState } from 'react';
import { factors as texts } from '../../../texts/safety.ts';
import { DialogEnd } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';

/** What a new factor is called: the first step of every kind. */
export function NameForm({
  suggested,
  send,
  action,
  onClose,
  onName,
}: {
  suggested: string;
  send: { error: Error | null; isPending: boolean };
  action: string;
  onClose: () => void;
  onName: (name: string) => void;
}) {
  const [name, setName] = useState(suggested);
  return (
    <Form error={send.error} fields={['name']} onSubmit={() => onName(name)}>
      <TextField
        label={texts.nameIt}
        hint={texts.nameHint}
        name="name"
        required
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <DialogEnd send={send} onClose={onClose} action={action} />
    </Form>
  );
}
