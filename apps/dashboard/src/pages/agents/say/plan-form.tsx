import { AGENT_NAME_LENGTH, CHANNEL_KINDS, web } from '@troupe/contract';
import type { SaidPlan } from '@troupe/contract';
import { freeName } from '@troupe/domain';
import type { ReactNode } from 'react';
import { useCall } from '../../../api.ts';
import { money } from '../../../format.ts';
import { modelName } from '../../../models.ts';
import { describeCron } from '../../../schedule.ts';
import { channels } from '../../../texts/channels.ts';
import { say as texts } from '../../../texts/say.ts';
import { toolNames } from '../../../texts/teams.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Facts, Notice } from '../../../ui/card.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { useAgentNames } from '../agents/names.ts';
import { ToolPicker } from '../agents/tool-picker.tsx';
import { ModelField } from '../models.tsx';
import { NextRuns } from '../tasks/next-runs.tsx';
import { ScheduleField } from '../tasks/schedule-field.tsx';
import { costNow, newTask } from './draft.ts';
import type { Draft } from './draft.ts';

type Planned = NonNullable<Draft['planned']>;

interface Part {
  plan: SaidPlan;
  set: (change: Partial<SaidPlan>) => void;
}

/** All that would be made, each line to be changed. */
export function PlanForm({
  planned,
  onChange,
  error,
  onSubmit,
  children,
}: {
  planned: Planned;
  onChange: (plan: SaidPlan) => void;
  error: Error | null;
  onSubmit: () => void;
  children: ReactNode;
}) {
  const { plan, notes } = planned;
  const part: Part = { plan, set: (change) => onChange({ ...plan, ...change }) };
  return (
    <Form
      className="flex flex-col gap-5"
      error={error}
      fields={['name', 'instruction', 'capUsd', 'task.prompt']}
      onSubmit={onSubmit}
    >
      {notes.length > 0 && (
        <Notice tone="spot" title={texts.notes}>
          <ul className="mt-1 list-disc ps-5">
            {notes.map((note) => (
              <li key={note} dir="auto">
                {note}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <NameTaken {...part} />
      <Summary planned={planned}>{children}</Summary>
      <details className="group" open={error !== null || undefined}>
        <summary className="mb-4 cursor-pointer font-medium">{texts.change}</summary>
        <div className="flex flex-col gap-5">
          <Who {...part} />
          <When {...part} />
          <Cap {...part} />
        </div>
      </details>
    </Form>
  );
}

function byWords({ by, isSandbox }: Planned): string {
  if (by === 'model') return texts.byModel;
  return isSandbox ? texts.byRulesSandbox : texts.byRules;
}

/** All of it at a glance, with the button. */
function Summary({ planned, children }: { planned: Planned; children: ReactNode }) {
  const { name, model, tools, instruction, task, tells, capUsd } = planned.plan;
  const { lines } = texts;
  const used = tools.map((tool) => toolNames[tool] ?? tool).join(', ');
  const when = task && `${describeCron(task.cronSchedule)} (${task.timezone})`;
  return (
    <Card title={texts.plan} hint={byWords(planned)}>
      <div className="flex flex-col gap-5">
        <Facts
          items={[
            [lines.agent, <bdi key="agent">{texts.withModel(name, modelName(model))}</bdi>],
            [lines.tools, used || texts.noTools],
            [lines.does, <bdi key="does">{task?.prompt ?? instruction}</bdi>],
            [lines.when, when ?? texts.onlyAsked],
            ...(task ? [[lines.tells, tells ? channels.names[tells] : texts.nowhere] as [string, ReactNode]] : []),
            [lines.cap, capUsd === null ? texts.noCap : texts.capMonth(money(capUsd))],
            [lines.cost, <Cost key="cost" planned={planned} />],
          ]}
        />
        {children}
      </div>
    </Card>
  );
}

/** An agent of this name is there by now: said with the way out, and no obstacle. */
function NameTaken({ plan: { name }, set }: Part) {
  const { agents } = useAgentNames();
  const free = freeName(
    name,
    agents.map((agent) => agent.name),
    AGENT_NAME_LENGTH,
  );
  if (free === name || name.trim() === '') return null;
  return (
    <Notice tone="spot" title={texts.nameTaken(name)}>
      <div className="mt-2">
        <Button small onClick={() => set({ name: free })}>
          {texts.takeName(free)}
        </Button>
      </div>
    </Notice>
  );
}

function Who({ plan, set }: Part) {
  const offered = useCall(web.models.list, {}).data;
  return (
    <Card title={texts.agent}>
      <div className="flex flex-col gap-4">
        <TextField
          label={texts.name}
          name="name"
          required
          value={plan.name}
          onChange={({ target }) => set({ name: target.value })}
        />
        <ModelField offered={offered} value={plan.model} onChange={(model) => set({ model })} />
        <TextArea
          label={texts.does}
          name="instruction"
          dir="auto"
          value={plan.instruction}
          onChange={({ target }) => set({ instruction: target.value })}
        />
        <ToolPicker value={plan.tools} onChange={(tools) => set({ tools })} />
      </div>
    </Card>
  );
}

function When({ plan, set }: Part) {
  const { task } = plan;
  const change = (part: Partial<NonNullable<SaidPlan['task']>>) => task && set({ task: { ...task, ...part } });
  return (
    <Card title={texts.when}>
      <div className="flex flex-col gap-4">
        <CheckField
          label={texts.byItself}
          hint={texts.byItselfHint}
          checked={task !== null}
          onChange={({ target }) =>
            set({
              task: target.checked ? newTask(plan, Intl.DateTimeFormat().resolvedOptions().timeZone) : null,
            })
          }
        />
        {task && (
          <>
            <TextArea
              label={texts.prompt}
              name="task.prompt"
              required
              dir="auto"
              value={task.prompt}
              onChange={({ target }) => change({ prompt: target.value })}
            />
            <ScheduleField cron={task.cronSchedule} onChange={(cronSchedule) => change({ cronSchedule })} />
            <NextRuns cron={task.cronSchedule} zone={task.timezone} words={describeCron(task.cronSchedule)} />
            <Tells plan={plan} set={set} />
          </>
        )}
      </div>
    </Card>
  );
}

function Tells({ plan, set }: Part) {
  const { tells } = plan;
  return (
    <SelectField
      label={texts.tells}
      hint={tells ? texts.tellsHint(channels.names[tells]) : undefined}
      value={tells ?? ''}
      onChange={({ target }) => set({ tells: CHANNEL_KINDS.find((kind) => kind === target.value) ?? null })}
      choices={[
        { value: '', label: texts.nowhere },
        ...CHANNEL_KINDS.map((kind) => ({ value: kind, label: channels.names[kind] })),
      ]}
    />
  );
}

function Cap({ plan, set }: Part) {
  return (
    <Card title={texts.money}>
      <TextField
        label={texts.cap}
        hint={texts.capHint}
        name="capUsd"
        type="number"
        inputMode="decimal"
        min={0}
        step="any"
        className="max-w-48"
        value={plan.capUsd ?? ''}
        onChange={({ target }) => set({ capUsd: target.value === '' ? null : Number(target.value) })}
      />
    </Card>
  );
}

/** What it is likely to cost, and what that is read from. */
function Cost({ planned }: { planned: Planned }) {
  const models = useCall(web.models.list, {}).data?.models;
  const cost = models && costNow(planned, models, new Date());
  if (!cost) return null;
  const [low, high] = planned.plan.task ? [cost.monthLow, cost.monthHigh] : [cost.low, cost.high];
  const words = planned.plan.task
    ? { one: texts.monthSame, two: texts.month }
    : { one: texts.onceSame, two: texts.once };
  const from = cost.from > 0 ? texts.fromPast(cost.from) : texts.fromPrice;
  return (
    <>
      <span className="num block font-medium">
        {money(low) === money(high) ? words.one(money(high)) : words.two(money(low), money(high))}
      </span>
      <span className="text-[0.88rem] text-ink-soft">
        {planned.plan.task && `${texts.basis(String(cost.runs), money(cost.low), money(cost.high))}, `}
        {from}.
      </span>
    </>
  );
}
