import { web } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { agentKnowledge as texts } from '../../../texts/knowledge.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { CheckField } from '../../../ui/field.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Gated } from '../evaluations/gated.tsx';

function useGiving(agentId: string) {
  const say = useSay();
  const read = useCall(web.knowledge.listOfAgent, { params: { id: agentId } });
  const nameOf = (id: string) => read.data?.collections.find((one) => one.id === id)?.name ?? '';
  const refresh = [web.knowledge.listOfAgent, web.knowledge.list];
  const give = useSend(web.knowledge.give, {
    refresh,
    done: (_, { params }) => say(texts.given(nameOf(params.collectionId))),
  });
  const take = useSend(web.knowledge.take, {
    refresh,
    done: (_, { params }) => say(texts.taken(nameOf(params.collectionId))),
  });
  const error = give.error ?? take.error;
  const isPending = give.isPending || take.isPending;
  const [wanted, setWanted] = useState<{ id: string; on: boolean }>();
  const change = (collectionId: string, on: boolean, force = false) => {
    setWanted({ id: collectionId, on });
    give.reset();
    take.reset();
    const input = { params: { id: agentId, collectionId }, ...(force && { query: { force: 'true' as const } }) };
    if (on) give.mutate({ ...input, body: {} });
    else take.mutate(input);
  };
  return { read, error, isPending, wanted, change };
}

/** Which collections of documents an agent may search. */
export function AgentKnowledge({ agentId }: { agentId: string }) {
  const { read, error, isPending, wanted, change } = useGiving(agentId);
  return (
    <Card
      title={texts.title}
      hint={texts.hint}
      actions={
        <LinkButton small icon="folder" to="/dashboard/knowledge">
          {texts.toAll}
        </LinkButton>
      }
    >
      {error && <Notice tone="danger">{error.message}</Notice>}
      {wanted && (
        <Gated
          key={`${wanted.id} ${wanted.on}`}
          agentId={agentId}
          error={error}
          change={{ collection: wanted }}
          onForce={() => change(wanted.id, wanted.on, true)}
          onTaken={() => void read.refetch()}
        />
      )}
      <Loaded from={read}>
        {({ collections }) =>
          collections.length === 0 ? (
            <p className="text-ink-soft">{texts.empty}</p>
          ) : (
            <div className="flex flex-col gap-4">
              {collections.map(({ id: collectionId, name, description, on }) => (
                <CheckField
                  key={collectionId}
                  label={name}
                  hint={description}
                  checked={on}
                  disabled={isPending}
                  onChange={({ target }) => change(collectionId, target.checked)}
                />
              ))}
            </div>
          )
        }
      </Loaded>
    </Card>
  );
}
