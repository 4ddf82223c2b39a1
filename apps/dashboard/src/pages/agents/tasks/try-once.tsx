import { web } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { useSend } from '../../../api.ts';
import { duration, money } from '../../../format.ts';
import { newId } from '../../../ids.ts';
import { tryOnce as texts } from '../../../texts/operate.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Notice } from '../../../ui/card.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { useConversation } from '../conversations/conversation.ts';
import { spentOf, stateOf } from '../conversations/transcript.ts';
import { useWords } from '../conversations/words.ts';

/** Tells the agent now what the task would tell it, in a conversation of its own; nothing is saved for it. */
export function TryOnce({ agentId, prompt }: { agentId: string; prompt: string }) {
  const tried = useSend(web.conversations.say, { refresh: [web.conversations.list] });
  const run = () => tried.mutate({ params: { id: agentId }, body: { message: prompt, topic: `try ${newId()}` } });
  const asked = useRef('');
  return (
    <section aria-label={texts.title} className="flex flex-col gap-3 rounded-xl border border-line bg-sunken/50 p-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-[0.9rem] text-ink-soft">{texts.hint}</p>
        <Button
          small
          icon="play"
          busy={tried.isPending}
          disabled={prompt.trim() === '' || agentId === ''}
          onClick={() => {
            asked.current = agentId;
            run();
          }}
        >
          {texts.action}
        </Button>
      </div>
      {tried.error && <Notice tone="danger">{tried.error.message}</Notice>}
      {tried.data && <Answer key={tried.data.sessionId} agentId={asked.current} sessionId={tried.data.sessionId} />}
    </section>
  );
}

function Answer({ agentId, sessionId }: { agentId: string; sessionId: string }) {
  const conversation = useConversation({ agentId, sessionId, lastSeq: 1 });
  const { steps, error } = conversation;
  const words = useWords(conversation);
  const state = steps && steps.length > 0 ? stateOf(steps) : 'open';
  const { costMicros, ms } = spentOf(steps ?? []);
  if (error) return <Failure error={error} retry={conversation.refetch} />;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2" role="status">
        <Badge tone={state === 'idle' ? 'ok' : state === 'waiting' ? 'spot' : 'info'}>
          {state === 'idle' ? texts.done : state === 'waiting' ? texts.waiting : texts.working}
        </Badge>
        {state === 'idle' && (
          <span className="num text-[0.87rem] text-ink-soft">
            {duration(ms)}, {money(costMicros / 1_000_000)}
          </span>
        )}
        <Link
          to="/dashboard/agents/$id"
          params={{ id: agentId } as never}
          search={{ tab: 'chat', c: sessionId } as never}
          className="link text-[0.87rem]"
        >
          {texts.open}
        </Link>
      </div>
      <div className="max-h-72 min-w-0 overflow-auto break-words" dir="auto" tabIndex={0}>
        {words === '' ? <Lines rows={3} /> : <Markdown text={words} />}
      </div>
    </div>
  );
}
