import { memo, useContext, useMemo, useState } from 'react';
import type { FormEvent, ReactNode } from 'react';
import type { Attachment } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { duration, money, short, time } from '../../../format.ts';
import { chat as texts } from '../../../texts/agents.ts';
import { states } from '../../../texts/common.ts';
import { attach, talk } from '../../../texts/talk.ts';
import { Button, IconButton, LinkButton } from '../../../ui/button.tsx';
import { cx } from '../../../ui/cx.ts';
import { TextArea } from '../../../ui/field.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { isSending } from '../../../ui/keys.ts';
import { Markdown } from '../../../ui/markdown.tsx';
import { runAddress, runName } from '../runs/run-name.ts';
import { Answer } from './answer.tsx';
import type { OfAgent } from './answer.tsx';
import { isFinal, wholesOf } from './answers.ts';
import type { Forked, Whole } from './answers.ts';
import { fileUrl } from './attach.tsx';
import type { Choice } from './branches.ts';
import { NewFrom } from './seen.ts';
import { ToolCard } from './tool-card.tsx';
import type { Ending, Told, ToolUse, Turn } from './transcript.ts';
import type { TurnActions } from './turn-actions.ts';
import { reasonOf } from './reason.ts';

interface Props {
  turns: Turn[];
  deciding: boolean;
  choices: ReadonlyMap<number, Choice>;
  /** Where this is a branch: the run that it is another way to go on from. */
  forked: Forked | undefined;
  actions: TurnActions;
  /** The message that is being changed. */
  editing: string | undefined;
  onEditing: (key: string | undefined) => void;
  /** Asks the last question again; undefined: it cannot be asked now. */
  onAgain: (() => void) | undefined;
}

type Asked = Extract<Turn, { kind: 'user' }>;

/** A conversation, with the tools that were used and what waits for a decision. */
export function Turns({ turns, choices, forked, actions, editing, onEditing, onAgain, deciding }: Props) {
  const last = turns.at(-1);
  const wholes = useMemo(() => wholesOf(turns), [turns]);
  const leftOff = useContext(NewFrom);
  let asked: Asked | undefined;
  const shown = turns.map((turn, index) => {
    if (turn.kind === 'note')
      return <Note key={turn.key} ending={turn} onAgain={turn === last ? onAgain : undefined} />;
    if (turn.kind === 'told') return <ToldNote key={turn.key} told={turn} />;
    if (turn.kind === 'user') asked = turn;
    return (
      <Said
        key={turn.key}
        turn={turn}
        asked={isFinal(turns, index) ? asked : undefined}
        whole={wholes.get(turn.key)}
        forked={forked && forked.asked === asked?.key ? forked : undefined}
        choice={turn.kind === 'user' ? choices.get(Number(turn.key)) : undefined}
        actions={actions}
        deciding={deciding}
        isEditing={editing === turn.key}
        onEditing={onEditing}
      />
    );
  });
  const firstNew = turns.findIndex(
    ({ kind, key, at }) => leftOff && kind !== 'user' && Number(key) > leftOff.seq && Date.parse(at) < leftOff.at,
  );
  return firstNew < 0 ? shown : shown.toSpliced(firstNew, 0, <NewLine key="new" />);
}

/** What follows came while nobody looked. */
const NewLine = () => (
  <p data-new className="flex items-center gap-3 text-[0.8rem] font-medium text-accent-ink">
    <span className="h-px flex-1 bg-line-strong" />
    {texts.newFrom}
    <span className="h-px flex-1 bg-line-strong" />
  </p>
);

/** Whoever wants to read it opens it. */
function ToldNote({ told: { key, what, member, text } }: { told: Told }) {
  const line = (texts.told[what] ?? texts.told['done']!)(member);
  if (text === '')
    return (
      <p id={`step-${key}`} className="self-center text-[0.9rem] text-ink-faint" dir="auto">
        {line}
      </p>
    );
  return (
    <details id={`step-${key}`} className="max-w-[92%] self-start text-[0.9rem] text-ink-soft sm:max-w-[80%]">
      <summary className="cursor-pointer" dir="auto">
        {line}
      </summary>
      <div className="mt-1 rounded-lg bg-sunken p-3 break-words" dir="auto">
        <Markdown text={text.slice(text.indexOf('\n') + 1)} />
      </div>
    </details>
  );
}

/** How a run ended, and what can be done about it. */
function Note({ ending, onAgain }: { ending: Ending; onAgain: (() => void) | undefined }) {
  const { outcome, spent, refusal, text } = ending;
  if (outcome === 'cancelled') {
    return (
      <p className="self-start text-[0.9rem] text-ink-faint">
        {text || texts.stoppedByYou(money((spent?.costMicros ?? 0) / 1e6))}
      </p>
    );
  }
  return (
    <div className="flex max-w-full flex-wrap items-center gap-2 self-start rounded-xl bg-spot-soft px-4 py-2 text-[0.95rem] text-spot">
      <span className="min-w-0 break-words">{reasonOf(ending) || (texts.outcomes[outcome] ?? outcome)}</span>
      {refusal && (
        <LinkButton small to="/dashboard/cost">
          {texts.caps}
        </LinkButton>
      )}
      {onAgain && (
        <Button small icon="restart" onClick={onAgain}>
          {texts.again}
        </Button>
      )}
    </div>
  );
}

interface SaidProps {
  turn: Exclude<Turn, Ending | Told>;
  /** The question that this is the last answer to. */
  asked: Asked | undefined;
  whole: Whole | undefined;
  forked: Forked | undefined;
  choice: Choice | undefined;
  actions: TurnActions;
  deciding: boolean;
  isEditing: boolean;
  onEditing: (key: string | undefined) => void;
}

const sameTools = (a: ToolUse[], b: ToolUse[]): boolean =>
  a.length === b.length &&
  a.every(({ state, result }, index) => state === b[index]!.state && result === b[index]!.result);

/** What is shown stays as it is, however much comes after it. */
const isSame = (a: SaidProps, b: SaidProps): boolean =>
  a.deciding === b.deciding &&
  a.actions === b.actions &&
  a.isEditing === b.isEditing &&
  a.asked?.key === b.asked?.key &&
  a.forked?.first === b.forked?.first &&
  a.whole?.steps === b.whole?.steps &&
  a.choice?.index === b.choice?.index &&
  a.choice?.ids.join() === b.choice?.ids.join() &&
  a.turn.key === b.turn.key &&
  a.turn.text === b.turn.text &&
  (a.turn.kind !== 'agent' || b.turn.kind !== 'agent' || sameTools(a.turn.tools, b.turn.tools));

/** An answer has the width of a page to read, and no box around it. */
export const ANSWER_WIDTH = 'w-full max-w-[46rem] self-start';

const pathsOf = ({ attachments }: Asked) => attachments.map(({ path }) => path);

const Said = memo(function Said({ deciding, ...rest }: SaidProps) {
  const { turn, actions, isEditing, onEditing } = rest;
  const mine = turn.kind === 'user';
  return (
    <article
      id={`step-${turn.key}`}
      tabIndex={-1}
      className={cx(
        'group flex min-w-0 flex-col gap-2 rounded-xl',
        mine ? 'max-w-[92%] self-end sm:max-w-[80%]' : ANSWER_WIDTH,
        isEditing && 'w-full',
      )}
    >
      {mine && <Files attachments={turn.attachments} actions={actions} />}
      {isEditing ? (
        <EditForm
          text={turn.text}
          onClose={() => onEditing(undefined)}
          onSend={(text) => actions.onEdit(Number(turn.key), text, mine ? pathsOf(turn) : [])}
        />
      ) : (
        turn.text && <Bubble text={turn.text} mine={mine} of={actions} />
      )}
      {!mine &&
        turn.tools.map((tool) => <ToolCard key={tool.callId} tool={tool} actions={actions} deciding={deciding} />)}
      {(mine || turn.text !== '') && <Foot {...rest} />}
    </article>
  );
}, isSame);

/** When it was said, what the whole answer took, and what can be done with it. */
function Foot({ turn, asked, whole, forked, choice, actions, isEditing, onEditing }: Omit<SaidProps, 'deciding'>) {
  const mine = turn.kind === 'user';
  const spent = mine ? undefined : asked && whole ? whole : turn.spent;
  return (
    <div className={cx('flex flex-wrap items-center gap-x-2 gap-y-1', mine && 'justify-end')}>
      <p className="num text-[0.78rem] text-ink-faint">
        {time(turn.at)}
        {spent && spent.tokens > 0 && <> · {texts.cost(money(spent.costMicros / 1e6), short(spent.tokens))}</>}
      </p>
      {asked && whole && <AnswerLinks {...{ asked, whole, forked, actions }} />}
      {mine && choice && <Switch choice={choice} onSwitch={actions.onSwitch} />}
      <span className="flex opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 [article:last-of-type_&]:opacity-100 [@media(hover:none)]:opacity-100">
        {mine && !isEditing && !actions.isOff && (
          <Small icon="edit" label={talk.edit} onClick={() => onEditing(turn.key)} />
        )}
        {!mine && turn.text && (
          <Small icon="copy" label={talk.copy} onClick={() => void navigator.clipboard.writeText(turn.text)} />
        )}
        {asked && !actions.isOff && (
          <Small
            icon="restart"
            label={talk.retry}
            onClick={() => actions.onEdit(Number(asked.key), asked.text, pathsOf(asked))}
          />
        )}
      </span>
    </div>
  );
}

const FOOT_LINK = 'num text-[0.78rem] text-ink-soft underline decoration-line-strong underline-offset-2 hover:text-ink';

/** To how the answer came about, and beside the one that it stands in place of. */
function AnswerLinks({
  asked,
  whole,
  forked,
  actions,
}: Pick<SaidProps, 'forked' | 'actions'> & { asked: Asked; whole: Whole }) {
  const run = { ...actions, first: Number(asked.key) };
  return (
    <>
      <Link to={runAddress(run)} title={talk.runHint} className={FOOT_LINK}>
        {talk.steps(whole.steps, whole.ms > 0 ? duration(whole.ms) : '')}
      </Link>
      {forked && (
        <Link to={`${runAddress({ ...actions, ...forked })}/compare/${runName(run)}`} className={FOOT_LINK}>
          {talk.compare}
        </Link>
      )}
    </>
  );
}

const Small = (props: {
  icon: 'edit' | 'copy' | 'restart' | 'back' | 'arrow';
  label: string;
  onClick: () => void;
  disabled?: boolean;
}) => <IconButton {...props} className="size-7! [&_svg]:size-[15px]" />;

/** One way of several to go on from here. */
function Switch({ choice: { ids, index }, onSwitch }: { choice: Choice; onSwitch: (id: string) => void }) {
  return (
    <span role="group" aria-label={talk.branchOf(index + 1, ids.length)} className="inline-flex items-center">
      <Small icon="back" label={talk.previous} disabled={index === 0} onClick={() => onSwitch(ids[index - 1]!)} />
      <span className="num text-[0.8rem] text-ink-soft" aria-hidden="true">
        {index + 1}/{ids.length}
      </span>
      <Small
        icon="arrow"
        label={talk.next}
        disabled={index === ids.length - 1}
        onClick={() => onSwitch(ids[index + 1]!)}
      />
    </span>
  );
}

function EditForm({ text, onSend, onClose }: { text: string; onSend: (text: string) => void; onClose: () => void }) {
  const [written, setWritten] = useState(text);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (written.trim() === '') return;
    onSend(written.trim());
    onClose();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <TextArea
        label={talk.editLabel}
        hideLabel
        hint={talk.editHint}
        rows={3}
        dir="auto"
        autoFocus
        value={written}
        onChange={({ target }) => setWritten(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
          if (isSending(event)) submit(event);
        }}
      />
      <div className="flex justify-end gap-2">
        <Button small onClick={onClose}>
          {states.cancel}
        </Button>
        <Button small kind="primary" type="submit">
          {talk.sendEdit}
        </Button>
      </div>
    </form>
  );
}

/** What came with a message: pictures are seen, the rest is opened. */
function Files({ attachments, actions }: { attachments: Attachment[]; actions: TurnActions }) {
  if (attachments.length === 0) return null;
  return (
    <ul aria-label={attach.files} className="flex flex-wrap justify-end gap-2">
      {attachments.map(({ path, kind, note }) => {
        const name = path.slice(path.lastIndexOf('/') + 1);
        return (
          <li key={path} className="min-w-0">
            <button
              type="button"
              aria-label={attach.open(path)}
              onClick={() => actions.onOpen(path)}
              className="flex max-w-full items-center gap-2 overflow-hidden rounded-xl border border-line bg-surface text-[0.87rem] hover:border-line-strong"
            >
              {kind === 'picture' ? (
                <img
                  src={fileUrl(actions.agentId, path, true)}
                  alt={name}
                  loading="lazy"
                  className="max-h-52 max-w-[min(20rem,100%)] object-contain"
                />
              ) : (
                <span className="flex min-w-0 items-center gap-2 px-3 py-1.5">
                  <Icon name="file" size={16} />
                  <span className="min-w-0 truncate" dir="auto">
                    {name}
                  </span>
                </span>
              )}
            </button>
            {note && <p className="mt-0.5 text-[0.8rem] text-spot">{note}</p>}
          </li>
        );
      })}
    </ul>
  );
}

export function Bubble({
  text,
  mine,
  of,
  children,
}: {
  text: string;
  mine: boolean;
  of?: OfAgent;
  children?: ReactNode;
}) {
  return (
    <div
      dir="auto"
      className={cx(
        'max-w-full min-w-0 break-words',
        mine ? 'self-end rounded-2xl rounded-br-md bg-accent px-4 py-2.5 whitespace-pre-wrap text-on-accent' : 'w-full',
      )}
    >
      {mine ? text : <Answer text={text} of={of} />}
      {children}
    </div>
  );
}
