import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/card.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, Refused } from '../../ui/form.tsx';

interface Given {
  one: { embeddings: string | null; embedded: number; meaningNote: string | null };
  /** What there is to find. */
  all: number;
  texts: { model: string; modelHint: string; embedded: (done: number, all: number) => string; save: string };
  error: Error | null;
  busy: boolean;
  onSave: (embeddings: string | null) => void;
}

/** By which model something is also searched by meaning; none unless its owner says so. */
export function EmbeddingsForm({ one, all, texts, error, busy, onSave }: Given) {
  const [model, setModel] = useState(one.embeddings ?? '');
  return (
    <Form
      error={error}
      fields={['embeddings']}
      onSubmit={() => onSave(model.trim() || null)}
      className="flex flex-col gap-4"
    >
      <TextField
        label={texts.model}
        hint={texts.modelHint}
        name="embeddings"
        placeholder="openai/text-embedding-3-small"
        value={model}
        onChange={({ target }) => setModel(target.value)}
      />
      {one.embeddings !== null && <p className="text-ink-soft">{texts.embedded(one.embedded, all)}</p>}
      {one.meaningNote !== null && <Notice tone="spot">{one.meaningNote}</Notice>}
      <Refused error={error} />
      <div>
        <Button type="submit" busy={busy}>
          {texts.save}
        </Button>
      </div>
    </Form>
  );
}
