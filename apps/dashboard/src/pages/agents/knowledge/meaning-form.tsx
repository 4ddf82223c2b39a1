import { web } from '@troupe/contract';
import type { KnowledgeCollection } from '@troupe/contract';
import { useSend } from '../../../api.ts';
import { collection as texts } from '../../../texts/knowledge.ts';
import { Card } from '../../../ui/card.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { EmbeddingsForm } from '../embeddings-form.tsx';

export function MeaningForm({ one }: { one: KnowledgeCollection }) {
  const say = useSay();
  const send = useSend(web.knowledge.change, { refresh: [web.knowledge.list], done: () => say(texts.saved) });
  return (
    <Card title={texts.meaning} hint={texts.meaningHint}>
      <EmbeddingsForm
        one={one}
        all={one.passages}
        texts={texts}
        error={send.error}
        busy={send.isPending}
        onSave={(embeddings) => send.mutate({ params: { id: one.id }, body: { embeddings } })}
      />
    </Card>
  );
}
