import { cancelConversation, decideApproval, listConversations } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState, useSyncExternalStore } from 'react';
import { stale, useCall, useSend } from '../../../api.ts';
import { chat as texts } from '../../../texts/agents.ts';
import { Button, Spinner } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { Composer } from './composer.tsx';
import { useConversation } from './conversation.ts';
import type { SessionRef, Writing } from './conversation.ts';
import { useOutbox } from './outbox.ts';
import type { Letter, Sent } from './outbox.ts';
import { Scroller } from './scroller.tsx';
import { stateOf, transcript } from './transcript.ts';
import { Bubble, Turns } from './turns.tsx';

/** The conversation that the platform keeps for its own dashboard. */
const OWN = 'dashboard';

/** The session that is shown: the one there is, or the one that the first message makes. */
function useOwnSession(agentId: string) {
  const queries = useQueryClient();
  const list = useCall(listConversations, { params: { id: agentId }, query: { key: OWN, limit: '1' } });
  const [made, setMade] = useState<SessionRef>();
  const found = list.data?.sessions[0];
  const ref = useMemo(
    () => (found ? { agentId, sessionId: found.id, lastSeq: found.lastSeq } : made),
    // Steps that come later are the stream's.
    [agentId, found?.id, made],
  );
  const onSent = useCallback(
    ({ sessionId }: Sent) => {
      if (ref?.sessionId === sessionId) return;
      setMade({ agentId, sessionId, lastSeq: 0 });
      void stale(queries, listConversations);
    },
    [agentId, queries, ref?.sessionId],
  );
  return { list, ref, onSent };
}

/** A conversation with the agent: what it says appears while it writes, its tools while it uses them. */
export function Chat({ agent }: { agent: WebAgent }) {
  const { list, ref, onSent } = useOwnSession(agent.id);
  const talk = useConversation(ref);
  const outbox = useOutbox(agent.id, onSent);
  const decide = useSend(decideApproval);
  const cancel = useSend(cancelConversation);
  const { mutate } = decide;
  const onDecide = useCallback(
    (approvalId: string, approved: boolean) => mutate({ params: { id: agent.id, approvalId }, body: { approved } }),
    [agent.id, mutate],
  );
  const steps = talk.steps ?? [];
  const turns = useMemo(() => transcript(steps), [talk.steps]);
  const state = useMemo(() => stateOf(steps), [talk.steps]);
  const known = steps.at(-1)?.seq ?? 0;
  const letters = outbox.letters.filter(({ seq }) => seq === undefined || seq > known);
  const again = () => {
    const asked = turns.findLast(({ kind }) => kind === 'user');
    if (asked) outbox.post(asked.text);
  };
  const problem = decide.error ?? cancel.error;
  return (
    <Card fill className="h-[calc(100dvh-23rem)] min-h-[22rem] md:h-[calc(100dvh-15.5rem)] md:min-h-[26rem]">
      <Loaded<unknown> from={ref ? { data: talk.steps, error: talk.error, refetch: talk.refetch } : list} rows={3}>
        {() => (
          <Scroller first={turns[0]?.key ?? ''} hasOlder={talk.hasOlder} onOlder={talk.older}>
            {turns.length === 0 && letters.length === 0 && (
              <Greeting onPick={outbox.post} stopped={agent.status === 'stopped'} />
            )}
            {talk.hasOlder && <p className="text-center text-[0.85rem] text-ink-faint">{texts.older}</p>}
            <Turns turns={turns} deciding={decide.isPending} onDecide={onDecide} onAgain={again} />
            <Written writing={talk.writing} works={state === 'open' || letters.some(({ seq }) => seq !== undefined)} />
            <Letters letters={letters} waits={outbox.waits} again={outbox.again} drop={outbox.drop} />
          </Scroller>
        )}
      </Loaded>
      {problem && <Notice tone="danger">{problem.message}</Notice>}
      {agent.status === 'stopped' ? (
        <Notice tone="spot">{texts.stopped}</Notice>
      ) : (
        <Composer
          key={agent.id}
          agentId={agent.id}
          works={state !== 'idle'}
          onSend={outbox.post}
          onStop={() => ref && cancel.mutate({ params: { id: agent.id, sessionId: ref.sessionId } })}
        />
      )}
    </Card>
  );
}

/** What is being written at this moment; announced when it is done, not word by word. */
function Written({ writing, works }: { writing: Writing; works: boolean }) {
  const text = useSyncExternalStore(writing.subscribe, writing.text);
  if (text !== '') {
    return (
      <div aria-live="off" className="flex max-w-[92%] flex-col self-start sm:max-w-[80%]">
        <Bubble mine={false} text={text} />
      </div>
    );
  }
  if (!works) return null;
  return (
    <p className="flex items-center gap-2 text-ink-soft" role="status">
      <Spinner /> {texts.working}
    </p>
  );
}

/** What was written and has not arrived yet. */
function Letters({
  letters,
  waits,
  again,
  drop,
}: {
  letters: Letter[];
  waits: boolean;
  again: (id: string) => void;
  drop: (id: string) => void;
}) {
  return letters.map(({ id, text, seq, problem }) => (
    <article key={id} className="flex max-w-[92%] min-w-0 flex-col gap-1 self-end sm:max-w-[80%]">
      <Bubble mine text={text} />
      {problem !== undefined && (
        <div role="alert" className="flex flex-wrap items-center justify-end gap-2 text-[0.9rem] text-danger">
          {texts.unsent}: {problem}
          <Button small icon="restart" onClick={() => again(id)}>
            {texts.again}
          </Button>
          <Button small onClick={() => drop(id)}>
            {texts.discard}
          </Button>
        </div>
      )}
      {waits && seq === undefined && problem === undefined && (
        <p role="status" className="text-right text-[0.85rem] text-spot">
          {texts.waiting}
        </p>
      )}
    </article>
  ));
}

/** An empty page is hard to start on. */
function Greeting({ onPick, stopped }: { onPick: (message: string) => void; stopped: boolean }) {
  return (
    <div className="my-auto">
      <Empty title={texts.empty}>{texts.emptyHint}</Empty>
      <div className="flex flex-wrap justify-center gap-2">
        {!stopped &&
          texts.suggestions.map((text) => (
            <Button key={text} small onClick={() => onPick(text)} className="h-auto py-1 whitespace-normal!">
              {text}
            </Button>
          ))}
      </div>
    </div>
  );
}
