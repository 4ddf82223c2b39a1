import { web } from '@troupe/contract';
import type { ScheduledTask } from '@troupe/contract';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { ago, coming, moment } from '../../../format.ts';
import { describeCron } from '../../../schedule.ts';
import { states } from '../../../texts/common.ts';
import { tasks as texts, triggers as triggerTexts } from '../../../texts/operate.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button, IconButton, LinkButton } from '../../../ui/button.tsx';
import { Badge, Card, Notice } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Page } from '../../../ui/page.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { TaskForm } from './form.tsx';
import { RunNow } from './run-now.tsx';
import { TaskRuns } from './runs.tsx';
import { TaskTriggers } from './triggers.tsx';

type Acts = Record<'view' | 'turn' | 'run' | 'triggers' | 'edit' | 'remove', (task: ScheduledTask) => void>;

const columnsOf = (nameOf: (id: string) => string, acts: Acts): Column<ScheduledTask>[] => [
  {
    key: 'name',
    header: texts.name,
    sort: ({ name }) => name,
    cell: (task) => (
      <button type="button" className="link text-left font-medium" onClick={() => acts.view(task)}>
        {task.name}
      </button>
    ),
  },
  { key: 'agent', header: texts.agent, free: true, cell: ({ agentId }) => nameOf(agentId) },
  {
    key: 'schedule',
    header: texts.schedule,
    cell: ({ cronSchedule, timezone }) => (
      <span title={cronSchedule}>
        {describeCron(cronSchedule)} <span className="text-ink-faint">({timezone})</span>
      </span>
    ),
  },
  {
    key: 'next',
    header: texts.next,
    sort: ({ nextRun }) => nextRun ?? '',
    cell: ({ nextRun, enabled }) =>
      enabled ? (
        <span className="whitespace-nowrap" title={moment(nextRun)}>
          {coming(nextRun)}
        </span>
      ) : (
        <Badge>{texts.off}</Badge>
      ),
  },
  {
    key: 'last',
    header: texts.last,
    sort: ({ lastRun }) => lastRun ?? '',
    cell: ({ lastRun }) => (lastRun ? <span title={moment(lastRun)}>{ago(lastRun)}</span> : states.never),
  },
  {
    key: 'actions',
    header: '',
    end: true,
    cell: (task) => <Actions task={task} acts={acts} />,
  },
];

function Actions({ task, acts }: { task: ScheduledTask; acts: Acts }) {
  return (
    <span className="inline-flex items-center gap-1">
      {task.enabled && (
        <Button small kind="quiet" onClick={() => acts.run(task)}>
          {texts.runNow}
        </Button>
      )}
      <Button small kind="quiet" onClick={() => acts.triggers(task)}>
        {triggerTexts.open}
      </Button>
      <Button small kind="quiet" onClick={() => acts.turn(task)}>
        {task.enabled ? texts.switchOff : texts.switchOn}
      </Button>
      <IconButton icon="config" label={`${texts.edit}: ${task.name}`} onClick={() => acts.edit(task)} />
      <IconButton icon="trash" label={texts.deleteTitle(task.name)} onClick={() => acts.remove(task)} />
    </span>
  );
}

export default function Tasks() {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const read = useCall(web.tasks.list, { query: {} });
  const agentsRead = useCall(web.agents.list, {});
  const agents = agentsRead.data?.agents ?? [];
  const [editing, setEditing] = useState<ScheduledTask>();
  const creating = search['new'] !== undefined;
  const setCreating = (open: boolean) => void navigate({ to: '.', search: (open ? { new: '1' } : {}) as never });
  // What news and the inbox lead to.
  const named = search['task'] === undefined ? undefined : String(search['task']);
  const task = editing ?? read.data?.tasks.find(({ id }) => id === named);
  const isGone = named !== undefined && read.data !== undefined && !task;
  const closeForm = () => {
    setEditing(undefined);
    if (creating || named !== undefined) setCreating(false);
  };
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          {texts.new}
        </Button>
      }
    >
      {isGone && <Notice tone="spot">{texts.gone}</Notice>}
      <TaskTable read={read} agents={agents} onEdit={setEditing} />
      {read.data && agentsRead.data && (creating || task) && (
        <TaskForm key={task?.id} task={task} agents={agents} onClose={closeForm} />
      )}
    </Page>
  );
}

interface TableProps {
  read: { data: { tasks: ScheduledTask[] } | undefined; error: Error | null; refetch: () => unknown };
  agents: { id: string; name: string }[];
  onEdit: (task: ScheduledTask) => void;
}

/** The tasks, and what can be done with one without opening it. */
function TaskTable({ read, agents, onEdit }: TableProps) {
  const [viewing, setViewing] = useState<ScheduledTask>();
  const [running, setRunning] = useState<ScheduledTask>();
  const [triggering, setTriggering] = useState<ScheduledTask>();
  const say = useSay();
  const change = useSend(web.tasks.update, { refresh: [web.tasks.list], done: () => say(texts.saved) });
  const remove = useAsk(web.tasks.remove, ({ id }: ScheduledTask) => ({ query: {}, body: { taskId: id } }), {
    refresh: [web.tasks.list],
  });
  const acts: Acts = {
    view: setViewing,
    run: setRunning,
    triggers: setTriggering,
    edit: onEdit,
    remove: remove.ask,
    turn: ({ id, enabled }) => change.mutate({ body: { taskId: id, enabled: !enabled } }),
  };
  const nameOf = (id: string) => agents.find((agent) => agent.id === id)?.name ?? id;
  return (
    <>
      {change.error && <Notice tone="danger">{change.error.message}</Notice>}
      <Card flush className="overflow-hidden">
        <Table
          label={texts.title}
          rows={read.data?.tasks}
          rowKey={({ id }) => id}
          error={read.error}
          retry={() => void read.refetch()}
          find={({ name, prompt }) => `${name} ${prompt}`}
          empty={<Nothing isAlone={agents.length === 0} />}
          columns={columnsOf(nameOf, acts)}
        />
      </Card>
      {running && <RunNow task={running} onClose={() => setRunning(undefined)} />}
      {triggering && (
        <TaskTriggers task={triggering} others={read.data?.tasks ?? []} onClose={() => setTriggering(undefined)} />
      )}
      {viewing && <TaskRuns task={viewing} onClose={() => setViewing(undefined)} />}
      <Confirm
        {...remove.confirm}
        title={texts.deleteTitle(remove.subject?.name ?? '')}
        losses={texts.deleteLoss}
        action={states.delete}
      />
    </>
  );
}

function Nothing({ isAlone }: { isAlone: boolean }) {
  return (
    <Empty
      title={texts.empty}
      action={
        isAlone ? (
          <LinkButton to="/dashboard/agents/new">{texts.createAgent}</LinkButton>
        ) : (
          <LinkButton to="/dashboard/tasks" search={{ new: '1' } as never}>
            {texts.first}
          </LinkButton>
        )
      }
    >
      {texts.emptyHint} {isAlone && texts.noAgents}
    </Empty>
  );
}
