import { TRIGGER_KINDS, web } from '@troupe/contract';
import type { ScheduledTask, TaskTrigger, TriggerKind } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { ago } from '../../../format.ts';
import { states } from '../../../texts/common.ts';
import { tasks as taskTexts, triggers as texts } from '../../../texts/operate.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Badge, Notice } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Confirm, Dialog } from '../../../ui/dialog.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';

interface Props {
  task: ScheduledTask;
  others: ScheduledTask[];
  onClose: () => void;
}

/** What starts a task beside its schedule. */
export function TaskTriggers({ task, others, onClose }: Props) {
  const read = useCall(web.triggers.list, { params: { id: task.id } });
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Dialog open onClose={onClose} title={texts.title(task.name)} hint={texts.hint} wide>
      {secret !== null && (
        <Notice tone="spot">
          <Code label={texts.secret} text={secret} />
          <p className="mt-2">{texts.secretHint}</p>
        </Notice>
      )}
      <Loaded from={read}>
        {({ triggers }) =>
          triggers.length === 0 ? (
            <Empty title={texts.none} />
          ) : (
            <ul className="flex flex-col gap-3">
              {triggers.map((trigger) => (
                <One key={trigger.id} trigger={trigger} others={others} onSecret={setSecret} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <Add task={task} others={others.filter(({ id }) => id !== task.id)} onSecret={setSecret} />
    </Dialog>
  );
}

const REFRESH = { refresh: [web.triggers.list] };

function detailOf({ kind, pattern, sender, afterTaskId, outcome }: TaskTrigger, others: ScheduledTask[]): string {
  if (kind === 'file') return pattern ?? '';
  if (kind === 'email') return sender ?? '';
  if (kind !== 'task') return '';
  const name = others.find(({ id }) => id === afterTaskId)?.name ?? afterTaskId ?? '';
  return `${name}: ${texts.outcomes[outcome ?? 'any'] ?? ''}`;
}

function One({ trigger, others, onSecret }: { trigger: TaskTrigger; others: ScheduledTask[]; onSecret: Show }) {
  const { id, taskId, kind, enabled, address, problem, lastAt } = trigger;
  const params = { id: taskId, triggerId: id };
  const change = useSend(web.triggers.update, REFRESH);
  const remove = useAsk(web.triggers.remove, () => ({ params }), REFRESH);
  const rotate = useAsk(web.triggers.rotate, () => ({ params, body: {} }), {
    ...REFRESH,
    done: (made) => onSecret(made.secret),
  });
  return (
    <li className="rounded-xl border border-line p-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="min-w-0">
          {texts.kinds[kind]} <span className="break-all text-ink-soft">{detailOf(trigger, others)}</span>{' '}
          {!enabled && <Badge>{texts.off}</Badge>}
          {lastAt && (
            <span className="text-[0.87rem] text-ink-faint">
              {' '}
              {texts.last} {ago(lastAt)}
            </span>
          )}
        </span>
        <span className="inline-flex items-center gap-1">
          {kind === 'webhook' && (
            <Button small kind="quiet" onClick={() => rotate.ask(trigger)}>
              {texts.rotate}
            </Button>
          )}
          <Button small kind="quiet" onClick={() => change.mutate({ params, body: { enabled: !enabled } })}>
            {enabled ? taskTexts.switchOff : taskTexts.switchOn}
          </Button>
          <IconButton icon="trash" label={texts.removeTitle} onClick={() => remove.ask(trigger)} />
        </span>
      </div>
      {problem && <p className="mt-2 text-danger">{problem}</p>}
      {change.error && <p className="mt-2 text-danger">{change.error.message}</p>}
      {address && (
        <div className="mt-2">
          <Code label={texts.address} text={address} />
        </div>
      )}
      <Confirm {...remove.confirm} title={texts.removeTitle} losses={texts.removeLoss} action={states.delete} />
      <Confirm {...rotate.confirm} title={texts.rotateTitle} losses={texts.rotateLoss} action={texts.rotate} />
    </li>
  );
}

type Show = (secret: string | null) => void;
const OUTCOMES = ['succeeded', 'failed', 'any'] as const;
type Outcome = (typeof OUTCOMES)[number];

function Add({ task, others, onSecret }: { task: ScheduledTask; others: ScheduledTask[]; onSecret: Show }) {
  const [kind, setKind] = useState<TriggerKind>('webhook');
  const [text, setText] = useState('');
  const [after, setAfter] = useState('');
  const [outcome, setOutcome] = useState<Outcome>('succeeded');
  const create = useSend(web.triggers.create, {
    ...REFRESH,
    done: (made) => {
      setText('');
      onSecret(made.secret);
    },
  });
  const afterTaskId = after || (others[0]?.id ?? '');
  const bodyOf = () => {
    if (kind === 'file') return { kind, pattern: text };
    if (kind === 'email') return text.trim() === '' ? { kind } : { kind, sender: text };
    return kind === 'task' ? { kind, afterTaskId, outcome } : { kind };
  };
  const submit = () => create.mutate({ params: { id: task.id }, body: bodyOf() });
  return (
    <Form error={create.error} fields={['text']} onSubmit={submit}>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={texts.kind}
          value={kind}
          onChange={({ target }) => setKind(target.value as TriggerKind)}
          choices={TRIGGER_KINDS.map((value) => ({ value, label: texts.kinds[value] ?? value }))}
        />
        {(kind === 'file' || kind === 'email') && (
          <TextField
            label={kind === 'file' ? texts.pattern : texts.sender}
            hint={kind === 'file' ? texts.patternHint : texts.senderHint}
            name="text"
            required={kind === 'file'}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
        {kind === 'task' && (
          <After others={others} after={afterTaskId} outcome={outcome} onAfter={setAfter} onOutcome={setOutcome} />
        )}
      </div>
      <Refused error={create.error} />
      <div className="flex justify-end">
        <Button kind="primary" type="submit" busy={create.isPending} disabled={kind === 'task' && others.length === 0}>
          {texts.add}
        </Button>
      </div>
    </Form>
  );
}

interface AfterProps {
  others: ScheduledTask[];
  after: string;
  outcome: Outcome;
  onAfter: (taskId: string) => void;
  onOutcome: (outcome: Outcome) => void;
}

/** Whose result, and which. */
function After({ others, after, outcome, onAfter, onOutcome }: AfterProps) {
  if (others.length === 0) return <p className="self-end text-ink-soft">{texts.noOther}</p>;
  return (
    <>
      <SelectField
        label={texts.after}
        value={after}
        onChange={({ target }) => onAfter(target.value)}
        choices={others.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <SelectField
        label={texts.outcome}
        value={outcome}
        onChange={({ target }) => onOutcome(target.value as Outcome)}
        choices={OUTCOMES.map((value) => ({ value, label: texts.outcomes[value] ?? value }))}
      />
    </>
  );
}
