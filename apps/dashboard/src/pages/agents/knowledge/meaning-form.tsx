import { web } from '@troupe/contract';
import type { KnowledgeCollection } from '@troupe/contract';
import { useState } from 'react';
import { useSend } from '../../../api.ts';
import { collection as texts } from '../../../texts/knowledge.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';

/** By which model a collection is also searched by meaning; none unless its owner says so. */
export function MeaningForm({ one }: { one: KnowledgeCollection }) {
  const say = useSay();
  const [model, setModel] = useState(one.embeddings ?? '');
  const send = useSend(web.knowledge.change, { refresh: [web.knowledge.list], done: () => say(texts.saved) });
  return (
    <Card title={texts.meaning} hint={texts.meaningHint}>
      <Form
        error={send.error}
        fields={['embeddings']}
        onSubmit={() => send.mutate({ params: { id: one.id }, body: { embeddings: model.trim() || null } })}
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
        {one.embeddings !== null && <p className="text-ink-soft">{texts.embedded(one.embedded, one.passages)}</p>}
        {one.meaningNote !== null && <Notice tone="spot">{one.meaningNote}</Notice>}
        <Refused error={send.error} />
        <div>
          <Button type="submit" busy={send.isPending}>
            {texts.save}
          </Button>
        </div>
      </Form>
    </Card>
  );
}
