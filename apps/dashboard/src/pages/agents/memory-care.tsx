import { web } from '@troupe/contract';
import type { MemoryFact, TypesOf } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { day } from '../../format.ts';
import { memoryCare as texts } from '../../texts/memory.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { CheckField } from '../../ui/field.tsx';
import { Loaded } from '../../ui/states.tsx';
import { useSay } from '../../ui/toast.tsx';
import { EmbeddingsForm } from './embeddings-form.tsx';
import { Gated } from './evaluations/gated.tsx';

type Care = TypesOf<typeof web.memory.getCare>['reply'];
type Change = TypesOf<typeof web.memory.setCare>['body'];

/** How the memory is searched and filled, and the facts that were found. */
export function MemoryCare({ agentId }: { agentId: string }) {
  const read = useCall(web.memory.getCare, { params: { id: agentId } }, { every: 20_000 });
  return (
    <Loaded from={read}>
      {(care) => (
        <>
          <CareForm agentId={agentId} care={care} onTaken={() => void read.refetch()} />
          {(care.facts || care.found.length > 0) && <FactList agentId={agentId} found={care.found} />}
        </>
      )}
    </Loaded>
  );
}

function CareForm({ agentId, care, onTaken }: { agentId: string; care: Care; onTaken: () => void }) {
  const say = useSay();
  const [wanted, setWanted] = useState<Change>({});
  const send = useSend(web.memory.setCare, {
    refresh: [web.memory.getCare, web.agents.getConfig],
    done: () => say(texts.saved),
  });
  const change = (body: Change, force = false) => {
    setWanted(body);
    send.mutate({ params: { id: agentId }, body, ...(force && { query: { force: 'true' as const } }) });
  };
  return (
    <Card title={texts.title} hint={texts.hint}>
      <div className="flex flex-col gap-5">
        {send.error && <Notice tone="danger">{send.error.message}</Notice>}
        <Gated
          agentId={agentId}
          error={send.error}
          change={{ config: { memory: wanted } }}
          onForce={() => change(wanted, true)}
          onTaken={onTaken}
        />
        <CheckField
          label={texts.facts}
          hint={texts.factsHint}
          checked={care.facts}
          disabled={send.isPending}
          onChange={({ target }) => change({ facts: target.checked })}
        />
        {care.factsNote !== null && <Notice tone="spot">{care.factsNote}</Notice>}
        <EmbeddingsForm
          one={care}
          all={care.memories}
          texts={texts}
          error={null}
          busy={send.isPending}
          onSave={(embeddings) => change({ embeddings })}
        />
      </div>
    </Card>
  );
}

function FactList({ agentId, found }: { agentId: string; found: readonly MemoryFact[] }) {
  return (
    <Card title={texts.found} hint={texts.foundHint}>
      {found.length === 0 ? (
        <p className="text-ink-soft">{texts.none}</p>
      ) : (
        <ul className="flex flex-col gap-4">
          {found.map((fact) => (
            <li key={fact.id} className="flex flex-col gap-1">
              <p className="break-words">{fact.content}</p>
              <p className="text-[0.85rem] text-ink-soft">
                <Source agentId={agentId} fact={fact} />
              </p>
              {fact.contradicts.length > 0 && <Decision agentId={agentId} fact={fact} />}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Source({ agentId, fact }: { agentId: string; fact: MemoryFact }) {
  if (fact.conversation === null) return texts.fromDeleted(day(fact.at));
  return (
    <Link
      className="underline"
      to={`/dashboard/agents/${agentId}`}
      search={{ tab: 'chat', c: fact.conversationId, at: fact.message } as never}
    >
      {texts.from(fact.conversation, day(fact.at))}
    </Link>
  );
}

/** Nothing is forgotten before its owner says so. */
function Decision({ agentId, fact }: { agentId: string; fact: MemoryFact }) {
  const say = useSay();
  const send = useSend(web.memory.decideFact, {
    refresh: [web.memory.getCare, web.memory.get],
    done: () => say(texts.decided),
  });
  const keep = (which: 'this' | 'others' | 'all') =>
    send.mutate({ params: { id: agentId, factId: fact.id }, body: { keep: which } });
  return (
    <Notice tone="spot" title={texts.contradicts}>
      <ul className="mb-3 list-disc pl-5">
        {fact.contradicts.map(({ id, content, at }) => (
          <li key={id} className="break-words">
            {texts.said(content, day(at))}
          </li>
        ))}
      </ul>
      {send.error && <p className="mb-2 text-danger">{send.error.message}</p>}
      <span className="flex flex-wrap gap-2">
        {(['this', 'others', 'all'] as const).map((which) => (
          <Button small key={which} disabled={send.isPending} onClick={() => keep(which)}>
            {texts.keep[which]}
          </Button>
        ))}
      </span>
    </Notice>
  );
}
