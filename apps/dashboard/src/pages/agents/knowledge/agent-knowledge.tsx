import { web } from '@troupe/contract';
import { useCall, useSend } from '../../../api.ts';
import { agentKnowledge as texts } from '../../../texts/knowledge.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { CheckField } from '../../../ui/field.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';

/** Which collections of documents an agent may search. */
export function AgentKnowledge({ agentId }: { agentId: string }) {
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
                  disabled={give.isPending || take.isPending}
                  onChange={({ target }) => {
                    const params = { id: agentId, collectionId };
                    if (target.checked) give.mutate({ params, body: {} });
                    else take.mutate({ params });
                  }}
                />
              ))}
            </div>
          )
        }
      </Loaded>
    </Card>
  );
}
