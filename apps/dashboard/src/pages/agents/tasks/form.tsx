import { web } from '@troupe/contract';
import type { ScheduledTask } from '@troupe/contract';
import { useSend } from '../../../api.ts';
import { describeCron } from '../../../schedule.ts';
import { states } from '../../../texts/common.ts';
import { tasks as texts } from '../../../texts/operate.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { LeftOff, useUnsaved } from '../../../ui/use-unsaved.tsx';
import { NextRuns } from './next-runs.tsx';
import { ScheduleField } from './schedule-field.tsx';
import { TellsField } from './tells-field.tsx';
import { TryOnce } from './try-once.tsx';
import { draftOf, zonesFor } from './task-draft.ts';
import type { TaskDraft } from './task-draft.ts';

const ZONES = Intl.supportedValuesOf('timeZone');

interface Props {
  /** Undefined: a new one. */
  task: ScheduledTask | undefined;
  agents: { id: string; name: string }[];
  onClose: () => void;
}

export function TaskForm({ task, agents, onClose }: Props) {
  return (
    <Dialog open onClose={onClose} title={task ? texts.edit : texts.new} wide>
      {agents.length === 0 ? (
        <Notice tone="spot">
          <p className="mb-2">{texts.noAgents}</p>
          <LinkButton to="/dashboard/agents/new">{texts.createAgent}</LinkButton>
        </Notice>
      ) : (
        <Edit task={task} agents={agents} onClose={onClose} />
      )}
    </Dialog>
  );
}

function useSave(task: ScheduledTask | undefined, onClose: () => void) {
  const say = useSay();
  const done = () => {
    say(texts.saved);
    onClose();
  };
  const create = useSend(web.tasks.create, { refresh: [web.tasks.list], done });
  const update = useSend(web.tasks.update, { refresh: [web.tasks.list], done });
  return {
    save({ agentId, ...rest }: TaskDraft) {
      if (task) update.mutate({ body: { taskId: task.id, ...rest } });
      else create.mutate({ body: { ...rest, agentId } });
    },
    isPending: create.isPending || update.isPending,
    error: create.error ?? update.error,
  };
}

function Edit({ task, agents, onClose }: Props) {
  const initial = draftOf(task, agents[0]?.id, Intl.DateTimeFormat().resolvedOptions().timeZone);
  const unsaved = useUnsaved(task ? `task:${task.id}` : 'task', initial);
  const { value: form, set, clear } = unsaved;
  const leave = () => {
    clear();
    onClose();
  };
  const { save, isPending, error } = useSave(task, leave);
  return (
    <Form error={error} fields={['name', 'prompt', 'description']} onSubmit={() => save(form)}>
      <LeftOff of={unsaved} />
      <What form={form} set={set} agents={agents} isNew={task === undefined} />
      <TryOnce agentId={form.agentId} prompt={form.prompt} />
      <When form={form} set={set} />
      <TellsField agentId={form.agentId} value={form.tells} onChange={(tells) => set({ tells })} />
      <TextField
        label={texts.description}
        name="description"
        value={form.description}
        onChange={({ target }) => set({ description: target.value })}
      />
      <CheckField
        label={texts.enabled}
        checked={form.enabled}
        onChange={({ target }) => set({ enabled: target.checked })}
      />
      <Refused error={error} />
      <div className="sticky -bottom-5 -mx-5 -mb-5 flex justify-end gap-2 border-t border-line bg-surface px-5 py-3 sm:-bottom-6 sm:-mx-6 sm:-mb-6 sm:px-6">
        <Button onClick={leave}>{states.cancel}</Button>
        <Button kind="primary" type="submit" busy={isPending}>
          {states.save}
        </Button>
      </div>
    </Form>
  );
}

interface Part {
  form: TaskDraft;
  set: (change: Partial<TaskDraft>) => void;
}

/** Which agent does what. */
function What({ form, set, agents, isNew }: Part & Pick<Props, 'agents'> & { isNew: boolean }) {
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={texts.name}
          name="name"
          required
          value={form.name}
          onChange={({ target }) => set({ name: target.value })}
        />
        <SelectField
          label={texts.agent}
          disabled={!isNew}
          value={form.agentId}
          onChange={({ target }) => set({ agentId: target.value })}
          choices={agents.map(({ id, name }) => ({ value: id, label: name }))}
        />
      </div>
      <TextArea
        label={texts.prompt}
        hint={texts.promptHint}
        name="prompt"
        required
        value={form.prompt}
        onChange={({ target }) => set({ prompt: target.value })}
      />
    </>
  );
}

function When({ form: { cronSchedule, timezone }, set }: Part) {
  return (
    <>
      <ScheduleField cron={cronSchedule} onChange={(next) => set({ cronSchedule: next })} />
      <SelectField
        label={texts.timezone}
        value={timezone}
        onChange={({ target }) => set({ timezone: target.value })}
        choices={zonesFor(timezone, ZONES).map((zone) => ({ value: zone, label: zone }))}
      />
      <NextRuns cron={cronSchedule} zone={timezone} words={describeCron(cronSchedule)} />
    </>
  );
}
