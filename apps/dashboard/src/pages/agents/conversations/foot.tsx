import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { duration, money, short, time } from '../../../format.ts';
import { modelName } from '../../../models.ts';
import { chat as texts } from '../../../texts/agents.ts';
import { talk } from '../../../texts/talk.ts';
import { IconButton } from '../../../ui/button.tsx';
import { cx } from '../../../ui/cx.ts';
import { useCopy } from '../../../ui/use-copy.ts';
import { runAddress, runName } from '../runs/run-name.ts';
import type { Forked, Whole } from './answers.ts';
import type { Choice } from './branches.ts';
import type { Ending, Told, Turn } from './transcript.ts';
import type { TurnActions } from './turn-actions.ts';

const AgainWith = lazy(() => import('./again-with.tsx'));

export type Asked = Extract<Turn, { kind: 'user' }>;

/** What was asked, to be asked again: with all that was attached. */
export const wordsOf = ({ text, attachments }: Asked) => ({ text, attachments: attachments.map(({ path }) => path) });

export interface FootProps {
  turn: Exclude<Turn, Ending | Told>;
  /** The question that this is the last answer to. */
  asked: Asked | undefined;
  whole: Whole | undefined;
  forked: Forked | undefined;
  choice: Choice | undefined;
  actions: TurnActions;
  isEditing: boolean;
  onEditing: (key: string | undefined) => void;
}

/** Which model answered, where it is not the one that does so as a rule. */
function Answered({ by, answers }: { by: string | undefined; answers: string }) {
  const name = by === undefined ? '' : modelName(by);
  if (name === '' || name === modelName(answers)) return null;
  return <bdi title={by}> · {name}</bdi>;
}

/** Asks it again: by the model that is chosen, or by another one. */
function Again({ asked, turn, actions }: { asked: Asked } & Pick<FootProps, 'turn' | 'actions'>) {
  const [isChoosing, setChoosing] = useState(false);
  const again = (model?: string | null) => {
    const { text, attachments } = wordsOf(asked);
    actions.onEdit(Number(asked.key), text, attachments, model);
  };
  return (
    <>
      <Small icon="restart" label={talk.retry} onClick={() => again()} />
      <Small icon="down" label={talk.retryWith} onClick={() => setChoosing(true)} />
      {isChoosing && (
        <Suspense>
          <AgainWith
            answered={turn.kind === 'agent' ? turn.model : undefined}
            own={actions.answers}
            onChoose={again}
            onClose={() => setChoosing(false)}
          />
        </Suspense>
      )}
    </>
  );
}

/** When it was said, what the whole answer took, and what can be done with it. */
export function Foot({ turn, asked, whole, forked, choice, actions, isEditing, onEditing }: FootProps) {
  const mine = turn.kind === 'user';
  const spent = mine ? undefined : asked && whole ? whole : turn.spent;
  return (
    <div className={cx('flex flex-wrap items-center gap-x-2 gap-y-1', mine && 'justify-end')}>
      <p className="num text-[0.78rem] text-ink-faint">
        {time(turn.at)}
        {spent && spent.tokens > 0 && <> · {texts.cost(money(spent.costMicros / 1e6), short(spent.tokens))}</>}
        {turn.kind === 'agent' && <Answered by={turn.model} answers={actions.answers} />}
      </p>
      {asked && whole && <AnswerLinks {...{ asked, whole, forked, actions }} />}
      {mine && choice && <Switch choice={choice} onSwitch={actions.onSwitch} />}
      <span className="flex opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 [article:last-of-type_&]:opacity-100 [@media(hover:none)]:opacity-100">
        {mine && !isEditing && !actions.isOff && (
          <Small icon="edit" label={talk.edit} onClick={() => onEditing(turn.key)} />
        )}
        {!mine && turn.text && <CopyAnswer text={turn.text} />}
        {asked && !actions.isOff && <Again {...{ asked, turn, actions }} />}
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
}: Pick<FootProps, 'forked' | 'actions'> & { asked: Asked; whole: Whole }) {
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

function CopyAnswer({ text }: { text: string }) {
  const { done, said, copy } = useCopy();
  return (
    <>
      <Small icon={done ? 'check' : 'copy'} label={said || talk.copy} onClick={() => copy(text)} />
      <span role="status" className="sr-only">
        {said}
      </span>
    </>
  );
}

const Small = (props: {
  icon: 'check' | 'edit' | 'copy' | 'restart' | 'down' | 'back' | 'arrow';
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
