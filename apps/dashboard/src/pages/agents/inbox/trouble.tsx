import { web } from '@troupe/contract';
import type { Endpoint, EndpointTypes, Notice } from '@troupe/contract';
import { useSend } from '../../../api.ts';
import { ago, inDollars } from '../../../format.ts';
import { inbox as texts } from '../../../texts/access.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Notice as Told } from '../../../ui/card.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { subjectOf } from './waiting.ts';

/** What stands still, and the ways on: a task that keeps failing, or an agent that does not run. */
export function TroubleItem({ item }: { item: Notice }) {
  const { id: subject, isTask } = subjectOf(item);
  const message = inDollars(item.message);
  return (
    <div role="group" aria-label={message} className="flex min-w-0 flex-col gap-2">
      <p className="font-medium break-words" dir="auto">
        {isTask ? texts.taskFails : texts.agentFails}
      </p>
      <p className="break-words" dir="auto">
        {message}
      </p>
      <p className="text-[0.9rem] text-ink-soft">{ago(item.createdAt)}</p>
      {isTask ? <TaskWays id={item.id} subject={subject} /> : <AgentWays id={item.id} subject={subject} />}
    </div>
  );
}

/** Done with it: it stands in no list any more. */
function useSettled(id: string) {
  const read = useSend(web.notices.read, { refresh: [web.notices.list] });
  return { settle: () => read.mutate({ body: { ids: [id] } }), error: read.error };
}

/** An action that ends the trouble as far as the inbox is concerned. */
function useWay<T extends EndpointTypes>(endpoint: Endpoint<T>, done: string, settle: () => void) {
  const say = useSay();
  return useSend(endpoint, {
    refresh: [web.tasks.list, web.tasks.listRuns, web.agents.list, web.agents.get],
    done: () => {
      say(done);
      settle();
    },
  });
}

function TaskWays({ id, subject }: { id: string; subject: string }) {
  const { settle, error } = useSettled(id);
  const start = useWay(web.triggers.start, texts.started, settle);
  const change = useWay(web.tasks.update, texts.switchedOff, settle);
  const failed = start.error ?? change.error ?? error;
  const isBusy = start.isPending || change.isPending;
  return (
    <>
      {failed && <Told tone="danger">{failed.message}</Told>}
      <div className="flex flex-wrap gap-2">
        <Button
          small
          kind="primary"
          data-act="a"
          disabled={isBusy}
          onClick={() => start.mutate({ params: { id: subject }, body: {} })}
        >
          {texts.runNow}
        </Button>
        <LinkButton small to="/dashboard/tasks">
          {texts.openTasks}
        </LinkButton>
        <Button
          small
          data-act="r"
          disabled={isBusy}
          onClick={() => change.mutate({ body: { taskId: subject, enabled: false } })}
        >
          {texts.switchOff}
        </Button>
        <Done onClick={settle} />
      </div>
    </>
  );
}

function AgentWays({ id, subject }: { id: string; subject: string }) {
  const { settle, error } = useSettled(id);
  const repair = useWay(web.instance.act, texts.repaired, settle);
  const failed = repair.error ?? error;
  return (
    <>
      {failed && <Told tone="danger">{failed.message}</Told>}
      <div className="flex flex-wrap gap-2">
        <Button
          small
          kind="primary"
          data-act="a"
          busy={repair.isPending}
          onClick={() => repair.mutate({ params: { userId: subject, action: 'repair' }, body: {} })}
        >
          {texts.repair}
        </Button>
        <LinkButton small to="/dashboard/agents/$id" params={{ id: subject } as never}>
          {texts.openAgent}
        </LinkButton>
        <Done onClick={settle} />
      </div>
    </>
  );
}

const Done = ({ onClick }: { onClick: () => void }) => (
  <Button small kind="quiet" data-act="e" onClick={onClick}>
    {texts.done}
  </Button>
);
