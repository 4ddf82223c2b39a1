import { memo, useContext, useMemo } from 'react';
import type { FormEvent, ReactNode } from 'react';
import type { Attachment } from '@troupe/contract';
import { money } from '../../../format.ts';
import { chat as texts } from '../../../texts/agents.ts';
import { states } from '../../../texts/common.ts';
import { attach, talk } from '../../../texts/talk.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { cx } from '../../../ui/cx.ts';
import { TextArea } from '../../../ui/field.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { isSending } from '../../../ui/keys.ts';
import { LeftOff, useUnsaved } from '../../../ui/use-unsaved.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { Answer } from './answer.tsx';
import type { OfAgent } from './answer.tsx';
import { isFinal, wholesOf } from './answers.ts';
import type { Forked } from './answers.ts';
import { fileUrl } from './attach.tsx';
import { Foot, wordsOf } from './foot.tsx';
import type { Asked, FootProps } from './foot.tsx';
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

interface SaidProps extends FootProps {
  deciding: boolean;
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
          name={`edit:${actions.sessionId}:${turn.key}`}
          text={turn.text}
          onClose={() => onEditing(undefined)}
          onSend={(text) => actions.onEdit(Number(turn.key), text, mine ? wordsOf(turn).attachments : [])}
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

function EditForm({
  name,
  text,
  onSend,
  onClose,
}: {
  name: string;
  text: string;
  onSend: (text: string) => void;
  onClose: () => void;
}) {
  const unsaved = useUnsaved(name, { text });
  const written = unsaved.value.text;
  const leave = () => {
    unsaved.clear();
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (written.trim() === '') return;
    onSend(written.trim());
    leave();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <LeftOff of={unsaved} />
      <TextArea
        label={talk.editLabel}
        hideLabel
        hint={talk.editHint}
        rows={3}
        dir="auto"
        autoFocus
        value={written}
        onChange={({ target }) => unsaved.set({ text: target.value })}
        onKeyDown={(event) => {
          if (event.key === 'Escape') leave();
          if (isSending(event)) submit(event);
        }}
      />
      <div className="flex justify-end gap-2">
        <Button small onClick={leave}>
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
