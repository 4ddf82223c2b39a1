import type { ReactNode } from 'react';
import { useState } from 'react';
import { knowledge as texts } from '../../../texts/knowledge.ts';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';

interface Named {
  name: string;
  description: string;
}

interface NameFormProps {
  given?: Named;
  error: Error | null;
  onSubmit: (named: Named) => void;
  /** The button that sends it. */
  children: ReactNode;
}

/** What a collection is called, and what is in it. */
export function NameForm({ given, error, onSubmit, children }: NameFormProps) {
  const [name, setName] = useState(given?.name ?? '');
  const [description, setDescription] = useState(given?.description ?? '');
  return (
    <Form
      error={error}
      fields={['name', 'description']}
      onSubmit={() => onSubmit({ name, description })}
      className="flex flex-col gap-4"
    >
      <TextField
        label={texts.name}
        name="name"
        required
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label={texts.description}
        name="description"
        value={description}
        onChange={({ target }) => setDescription(target.value)}
      />
      <Refused error={error} />
      <div>{children}</div>
    </Form>
  );
}
