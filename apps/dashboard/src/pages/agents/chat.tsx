import { cancelConversation, decideApproval, getConversation, listConversations, sendChat } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { FormEvent, KeyboardEvent } from 'react';
import { call, eventsOf, open, stale, useCall, useSend } from '../../api.ts';
import { chat as texts } from '../../texts/agents.ts';
import { Button, Spinner } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { TextArea } from '../../ui/field.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { transcript } from './transcript.ts';
import { Bubble, Turns } from './turns.tsx';

const WAIT = 1_800_000;
/** The conversation that the platform keeps for its own dashboard. */
const OWN = 'dashboard';

/** A conversation with the agent: what it says appears while it writes, its tools while it uses them. */
export function Chat({ agent }: { agent: WebAgent }) {
  const params = { id: agent.id };
  const queries = useQueryClient();
  const list = useCall(listConversations, { params, query: {} });
  const session = list.data?.sessions.find(({ key }) => key === OWN);
  const [busy, setBusy] = useState(false);
  const [pending, setPending] = useState('');
  const [writing, setWriting] = useState('');
  const [problem, setProblem] = useState<Error>();
  const steps = useCall(
    getConversation,
    { params: { ...params, sessionId: session?.id ?? '' }, query: { limit: '1000' } },
    { enabled: session !== undefined, every: busy || session?.status === 'open' ? 700 : 8000 },
  );
  const refresh = () => stale(queries, listConversations, getConversation);
  const decide = useSend(decideApproval, { refresh: [getConversation, listConversations] });
  const stopped = agent.status === 'stopped';

  const send = async (message: string) => {
    setBusy(true);
    setPending(message);
    setProblem(undefined);
    try {
      const headers = { accept: 'text/event-stream' };
      const response = await open(sendChat, { body: { message, agentId: agent.id }, headers, timeout: WAIT });
      void refresh();
      for await (const { event, data } of eventsOf(response)) {
        const value = JSON.parse(data) as { text?: string; error?: string };
        if (event === 'delta') setWriting((text) => text + (value.text ?? ''));
        if (event === 'error') throw new Error(value.error);
      }
      await refresh();
    } catch (error) {
      setProblem(error as Error);
    } finally {
      setBusy(false);
      setPending('');
      setWriting('');
    }
  };

  const turns = transcript(steps.data?.events ?? []);
  // What is stored replaces what was only just typed or written.
  const answered = turns.at(-1);
  const stored = turns.some(({ kind, text }) => kind === 'user' && text === pending);
  const partial = answered?.kind === 'agent' && writing.startsWith(answered.text) ? '' : writing;
  return (
    <Card fill className="h-[calc(100dvh-23rem)] min-h-[22rem] md:h-[calc(100dvh-15.5rem)] md:min-h-[26rem]">
      <Loaded from={session && !steps.data ? steps : list} rows={3}>
        {() => (
          <Scroller mark={`${turns.length} ${writing.length} ${pending}`}>
            {turns.length === 0 && !pending && <Greeting onPick={(message) => void send(message)} stopped={stopped} />}
            <Turns
              turns={turns}
              deciding={decide.isPending}
              onDecide={(approvalId, approved) =>
                decide.mutate({ params: { ...params, approvalId }, body: { approved } })
              }
            />
            {pending && !stored && <Bubble mine text={pending} />}
            {partial && <Bubble mine={false} text={partial} />}
            {busy && !partial && (
              <p className="flex items-center gap-2 text-ink-soft" role="status">
                <Spinner /> {texts.working}
              </p>
            )}
          </Scroller>
        )}
      </Loaded>
      {problem && <Notice tone="danger">{problem.message}</Notice>}
      {decide.error && <Notice tone="danger">{decide.error.message}</Notice>}
      {stopped ? (
        <Notice tone="spot">{texts.stopped}</Notice>
      ) : (
        <Composer
          busy={busy}
          onSend={(message) => void send(message)}
          onStop={() =>
            session && void call(cancelConversation, { params: { ...params, sessionId: session.id } }).then(refresh)
          }
        />
      )}
    </Card>
  );
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

function Scroller({ mark, children }: { mark: string; children: React.ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [mark]);
  return (
    <div
      ref={box}
      role="log"
      aria-label={texts.label}
      tabIndex={0}
      className="mb-4 flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto rounded-lg pr-1"
    >
      {children}
    </div>
  );
}

function Composer({ busy, onSend, onStop }: { busy: boolean; onSend: (message: string) => void; onStop: () => void }) {
  const [text, setText] = useState('');
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!text.trim() || busy) return;
    onSend(text.trim());
    setText('');
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form onSubmit={submit} className="flex items-end gap-2">
      <div className="min-w-0 flex-1">
        <TextArea
          label={texts.message}
          hideLabel
          rows={2}
          placeholder={texts.placeholder}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKey}
        />
      </div>
      {busy ? (
        <Button icon="stop" onClick={onStop}>
          {texts.stop}
        </Button>
      ) : (
        <Button kind="primary" type="submit" icon="send">
          {texts.send}
        </Button>
      )}
    </form>
  );
}
