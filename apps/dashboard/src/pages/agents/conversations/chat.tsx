import { web } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { useCallback, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { KeyboardEvent } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { chat as texts } from '../../../texts/agents.ts';
import { talk } from '../../../texts/talk.ts';
import { Button, Spinner } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { cx } from '../../../ui/cx.ts';
import { Drawer } from '../../../ui/dialog.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { forkedFrom } from './answers.ts';
import { choicesIn } from './branches.ts';
import { Composer } from './composer.tsx';
import type { DecidedWith } from './decide.ts';
import type { Written } from './composer.tsx';
import { useConversation } from './conversation.ts';
import { Head } from './head.tsx';
import type { Writing } from './writing.ts';
import { ConversationList } from './conversation-list.tsx';
import { useOutbox } from './outbox.ts';
import type { Letter } from './letters.ts';
import { Scroller } from './scroller.tsx';
import { isHere } from './letters.ts';
import { SwitchedOff } from './switched-off.tsx';
import { usePlace } from './talk-place.ts';
import { useFindKey } from './use-find-key.ts';
import { newPlace, useCommands } from './use-commands.ts';
import { spentOf, stateOf, transcript } from './transcript.ts';
import { useBeside } from './beside.tsx';
import { wordsOf } from './foot.tsx';
import { useNextModel } from './next-model.ts';
import { ANSWER_WIDTH, Bubble, Turns } from './turns.tsx';

/** Talking to an agent: all conversations on one side, the one that is read on the other. */
export function Chat({ agent }: { agent: WebAgent }) {
  const place = usePlace(agent);
  const [isListed, setListed] = useState(false);
  const { open } = place;
  useFindKey(() => setListed(true));
  const list = (
    <ConversationList
      agentId={agent.id}
      current={place.session?.id}
      onOpen={(id, at) => {
        setListed(false);
        open(id, at);
      }}
      onNew={() => {
        setListed(false);
        open(newPlace());
      }}
    />
  );
  return (
    <div className="grid gap-5 lg:grid-cols-[15rem_minmax(0,1fr)] min-[100rem]:grid-cols-[15rem_minmax(0,1fr)_16rem]">
      <div className="flex h-[calc(100dvh-11.5rem)] min-h-[28rem] flex-col max-lg:hidden">{list}</div>
      <Drawer open={isListed} onClose={() => setListed(false)} title={talk.list}>
        <div className="flex h-full flex-col p-4">{list}</div>
      </Drawer>
      <Thread agent={agent} place={place} onList={() => setListed(true)} />
    </div>
  );
}

/** What was decided, stopped and sent on: the owner's say in what is shown. */
function useSayIn(agentId: string) {
  const decide = useSend(web.conversations.decide, { refresh: [web.agents.getConfig] });
  const cancel = useSend(web.conversations.cancel);
  const { mutate } = decide;
  const onDecide = useCallback(
    (approvalId: string, approved: boolean, more: DecidedWith = {}) =>
      mutate({ params: { id: agentId, approvalId }, body: { approved, ...more } }),
    [agentId, mutate],
  );
  return {
    onDecide,
    deciding: decide.isPending,
    stop: (sessionId: string) => cancel.mutate({ params: { id: agentId, sessionId } }),
    problem: decide.error ?? cancel.error,
  };
}

function useTurns(agent: WebAgent, place: ReturnType<typeof usePlace>) {
  const talk = useConversation(place.ref);
  const steps = talk.steps ?? [];
  const turns = useMemo(() => transcript(steps), [talk.steps]);
  const state = useMemo(() => stateOf(steps), [talk.steps]);
  const sessionId = place.session?.id ?? '';
  const branches = useCall(
    web.conversations.listBranches,
    { params: { id: agent.id, sessionId } },
    { enabled: sessionId !== '' },
  );
  const family = branches.data?.branches ?? [];
  const choices = useMemo(() => {
    const messages = turns.filter(({ kind }) => kind === 'user').map(({ key }) => Number(key));
    return choicesIn(family, sessionId, messages);
  }, [turns, branches.data, sessionId]);
  const forked = useMemo(
    () =>
      forkedFrom(
        turns,
        branches.data?.branches.find(({ id }) => id === sessionId),
      ),
    [turns, branches.data, sessionId],
  );
  const costMicros = useMemo(() => spentOf(steps).costMicros, [talk.steps]);
  return { talk, turns, state, family, choices, forked, costMicros, known: steps.at(-1)?.seq ?? 0 };
}

interface ThreadProps {
  agent: WebAgent;
  place: ReturnType<typeof usePlace>;
  onList: () => void;
}

/** A conversation with the agent: what it says appears while it writes, its tools while it uses them. */
function Thread({ agent, place, onList }: ThreadProps) {
  const { session } = place;
  const read = useTurns(agent, place);
  const outbox = useOutbox(agent.id, place.onSent);
  const owner = useSayIn(agent.id);
  const [editing, setEditing] = useState<string>();
  const [model, setModel] = useNextModel(agent.id);
  const [hasOptions, setOptions] = useState(false);
  const commands = useCommands(place, () => setOptions(true));
  const files = useBeside(agent, session?.id, read.talk);
  const say = (written: Written) => outbox.post(written, place.target);
  const asked = read.turns.findLast(({ kind }) => kind === 'user');
  return (
    <>
      <Card fill className="h-[calc(100dvh-17rem)] min-h-[24rem] md:h-[calc(100dvh-11.5rem)] md:min-h-[28rem]">
        <Head
          place={place}
          family={read.family}
          agentId={agent.id}
          // Only of what was read whole a sum can be told.
          costMicros={read.talk.hasOlder ? 0 : read.costMicros}
          onList={onList}
          files={files.count}
          onFiles={files.list}
          isOpen={hasOptions}
          setOpen={setOptions}
        />
        <Said
          {...{ agent, place, read, outbox, owner, editing, say, model }}
          onEditing={setEditing}
          onOpen={files.open}
          onAgain={() => asked?.kind === 'user' && say({ ...wordsOf(asked), ...named(model) })}
        />
        {owner.problem && <Notice tone="danger">{owner.problem.message}</Notice>}
        {agent.status === 'stopped' ? (
          <SwitchedOff agentId={agent.id} />
        ) : (
          <Composer
            key={`${agent.id}:${place.place}`}
            agent={agent}
            place={place.place}
            works={read.state !== 'idle'}
            model={model}
            onModel={setModel}
            isNew={place.list.data !== undefined && !session && !place.isWaiting}
            onSend={say}
            onInterrupt={(written) => outbox.post(written, place.target, session?.id)}
            onStop={() => session && owner.stop(session.id)}
            commands={commands}
            onEditLast={() => setEditing(asked?.key)}
          />
        )}
      </Card>
      {files.beside}
    </>
  );
}

interface SaidProps extends Omit<ThreadProps, 'onList'> {
  read: ReturnType<typeof useTurns>;
  outbox: ReturnType<typeof useOutbox>;
  owner: ReturnType<typeof useSayIn>;
  say: (written: Written) => void;
  /** That is chosen for what is written next. */
  model: string | undefined;
  editing: string | undefined;
  onEditing: (key: string | undefined) => void;
  onOpen: (path: string) => void;
  onAgain: () => void;
}

const named = (model: string | null | undefined) => (model ? { model } : {});

/** The same as long as it is the same conversation: what is shown is drawn once. */
function useActions(props: SaidProps) {
  const {
    agent: { id: agentId, status, answers },
    place: { session, open },
    owner: { onDecide },
    outbox: { post },
    onOpen,
  } = props;
  const sessionId = session?.id ?? '';
  // Choosing another one draws nothing anew.
  const chosen = useRef(props.model);
  chosen.current = props.model;
  const isOff = status === 'stopped';
  return useMemo(
    () => ({
      agentId,
      sessionId,
      isOff,
      answers,
      onDecide,
      onEdit: (seq: number, text: string, attachments: string[], model?: string | null) =>
        post(
          { text, attachments, ...named(model === undefined ? chosen.current : model) },
          { branchOf: sessionId, at: seq - 1 },
        ),
      onSwitch: (id: string) => open(id),
      onOpen,
    }),
    // `post` only adds to what it is given.
    [agentId, sessionId, isOff, answers, onDecide, open, onOpen],
  );
}

/** What was said, what is being said, and what has not arrived yet. */
function Said(props: SaidProps) {
  const { agent, place, read, outbox, owner, say } = props;
  const { talk: conversation, turns, state, choices, known } = read;
  const actions = useActions(props);
  const letters = outbox.letters
    .filter((letter) => isHere(letter, place.session?.id, place.place))
    .filter(({ seq }) => seq === undefined || seq > known);
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    const choice = choices.get(Math.max(...choices.keys()));
    const next = choice?.ids[choice.index + step];
    if (!event.altKey || step === 0 || next === undefined) return;
    event.preventDefault();
    place.open(next);
  };
  const steps = { data: conversation.steps, error: conversation.error, refetch: conversation.refetch };
  return (
    <div className="contents" onKeyDown={onKey}>
      <Loaded<unknown> from={place.ref ? steps : place.isWaiting ? place.head : place.list} rows={3}>
        {() => (
          <Scroller
            key={place.place}
            of={place.session?.id ?? ''}
            first={turns[0]?.key ?? ''}
            hasOlder={conversation.hasOlder}
            onOlder={conversation.older}
            goTo={place.at === undefined ? undefined : `step-${place.at}`}
          >
            {turns.length === 0 && letters.length === 0 && (
              <Greeting
                agentId={agent.id}
                onPick={(text) => say({ text, attachments: [], ...named(props.model) })}
                stopped={agent.status === 'stopped'}
              />
            )}
            {conversation.hasOlder && <p className="text-center text-[0.85rem] text-ink-faint">{texts.older}</p>}
            <Turns
              turns={turns}
              choices={choices}
              forked={read.forked}
              actions={actions}
              deciding={owner.deciding || actions.isOff}
              editing={props.editing}
              onEditing={props.onEditing}
              onAgain={actions.isOff ? undefined : props.onAgain}
            />
            <Wording
              writing={conversation.writing}
              works={state === 'open' || letters.some(({ seq }) => seq !== undefined)}
            />
            <Letters letters={letters} waits={outbox.waits} again={outbox.again} drop={outbox.drop} />
          </Scroller>
        )}
      </Loaded>
    </div>
  );
}

/** What is being written at this moment; announced when it is done, not word by word. */
function Wording({ writing, works }: { writing: Writing; works: boolean }) {
  const text = useSyncExternalStore(writing.subscribe, writing.text);
  if (text !== '') {
    return (
      <div aria-live="off" className={cx('flex flex-col', ANSWER_WIDTH)}>
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
  return letters.map(({ id, text, seq, problem, attachments }) => (
    <article key={id} className="flex max-w-[92%] min-w-0 flex-col gap-1 self-end sm:max-w-[80%]">
      <Bubble mine text={[text, ...attachments].filter(Boolean).join('\n')} />
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

/** An empty page is hard to start on. What the agent's document says stands in place of ours. */
function Greeting({
  agentId,
  onPick,
  stopped,
}: {
  agentId: string;
  onPick: (message: string) => void;
  stopped: boolean;
}) {
  const { welcome, commands = [] } = useCall(web.agents.getPurpose, { params: { id: agentId } }).data ?? {};
  const offered = commands.length > 0 ? commands.map(({ name }) => `/${name}`) : texts.suggestions;
  return (
    <div className="my-auto">
      <Empty title={texts.empty}>
        {welcome ? <span className="whitespace-pre-line">{welcome}</span> : texts.emptyHint}
      </Empty>
      <div className="flex flex-wrap justify-center gap-2">
        {!stopped &&
          offered.map((text) => (
            <Button key={text} small onClick={() => onPick(text)} className="h-auto py-1 whitespace-normal!">
              {text}
            </Button>
          ))}
      </div>
    </div>
  );
}
