import { web } from '@troupe/contract';
import type { ScheduledTask } from '@troupe/contract';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { useSend } from '../../../api.ts';
import { describeCron } from '../../../schedule.ts';
import { states } from '../../../texts/common.ts';
import { tasks as texts } from '../../../texts/operate.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { NextRuns } from './next-runs.tsx';
import { ScheduleField } from './schedule-field.tsx';

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')];

export function TaskForm({
  task,
  agents,
  onClose,
}: {
  task: ScheduledTask | undefined;
  agents: { id: string; name: string }[];
  onClose: () => void;
}) {
  const [form, setForm] = useState({
    name: task?.name ?? '',
    description: task?.description ?? '',
    agentId: task?.agentId ?? agents[0]?.id ?? '',
    prompt: task?.prompt ?? '',
    cronSchedule: task?.cronSchedule ?? '0 9 * * *',
    timezone: task?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    enabled: task?.enabled ?? true,
  });
  const say = useSay();
  const done = () => {
    say(texts.saved);
    onClose();
  };
  const create = useSend(web.tasks.create, { refresh: [web.tasks.list], done });
  const update = useSend(web.tasks.update, { refresh: [web.tasks.list], done });
  const set = (change: Partial<typeof form>) => setForm((old) => ({ ...old, ...change }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { agentId, ...rest } = form;
    if (task) update.mutate({ body: { taskId: task.id, ...rest } });
    else create.mutate({ body: { ...rest, agentId } });
  };
  const error = create.error ?? update.error;
  return (
    <Dialog open onClose={onClose} title={task ? texts.edit : texts.new} wide>
      {agents.length === 0 ? (
        <Notice tone="spot">
          <p className="mb-2">{texts.noAgents}</p>
          <LinkButton to="/dashboard/agents/new">{texts.createAgent}</LinkButton>
        </Notice>
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-4">
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label={texts.name}
              required
              value={form.name}
              onChange={({ target }) => set({ name: target.value })}
            />
            <SelectField
              label={texts.agent}
              disabled={task !== undefined}
              value={form.agentId}
              onChange={({ target }) => set({ agentId: target.value })}
              choices={agents.map(({ id, name }) => ({ value: id, label: name }))}
            />
          </div>
          <TextArea
            label={texts.prompt}
            hint={texts.promptHint}
            required
            value={form.prompt}
            onChange={({ target }) => set({ prompt: target.value })}
          />
          <ScheduleField cron={form.cronSchedule} onChange={(cronSchedule) => set({ cronSchedule })} />
          <SelectField
            label={texts.timezone}
            value={form.timezone}
            onChange={({ target }) => set({ timezone: target.value })}
            choices={[...new Set([form.timezone, ...ZONES])].map((zone) => ({ value: zone, label: zone }))}
          />
          <NextRuns cron={form.cronSchedule} zone={form.timezone} words={describeCron(form.cronSchedule)} />
          <TextField
            label={texts.description}
            value={form.description}
            onChange={({ target }) => set({ description: target.value })}
          />
          <CheckField
            label={texts.enabled}
            checked={form.enabled}
            onChange={({ target }) => set({ enabled: target.checked })}
          />
          {error && <Notice tone="danger">{error.message}</Notice>}
          <div className="sticky -bottom-5 -mx-5 -mb-5 flex justify-end gap-2 border-t border-line bg-surface px-5 py-3 sm:-bottom-6 sm:-mx-6 sm:-mb-6 sm:px-6">
            <Button onClick={onClose}>{states.cancel}</Button>
            <Button kind="primary" type="submit" busy={create.isPending || update.isPending}>
              {states.save}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
