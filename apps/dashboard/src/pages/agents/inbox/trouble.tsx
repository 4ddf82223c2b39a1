import { web } from '@troupe/contract';
import type { Endpoint, EndpointTypes, Notice } from '@troupe/contract';
import { useSend } from '../../../api.ts';
import { ago, inDollars } from '../../../format.ts';
import { inbox as texts } from '../../../texts/access.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Notice as Told } from '../../../ui/card.tsx';
import { useTold } from './use-marks.ts';
import type { Decided } from './use-marks.ts';
import { subjectOf } from './waiting.ts';

/** What stands still, and the ways on: a task that keeps failing, or an agent that does not run. */
export function TroubleItem({ item, onDecided }: Decided<Notice>) {
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
      {isTask ? (
        <TaskWays subject={subject} onDecided={onDecided} />
      ) : (
        <AgentWays subject={subject} onDecided={onDecided} />
      )}
    </div>
  );
}

/** An action that ends the trouble as far as the inbox is concerned; a task that it switches off can be switched on again. */
function useWay<T extends EndpointTypes>(
  endpoint: Endpoint<T>,
  done: string,
  { onDecided, switchedOff }: Pick<Decided<Notice>, 'onDecided'> & { switchedOff?: string },
) {
  const tell = useTold(onDecided);
  return useSend(endpoint, {
    refresh: [web.tasks.list, web.tasks.listRuns, web.agents.list, web.agents.get],
    done: () => tell(done, switchedOff),
  });
}

interface Ways {
  subject: string;
  onDecided: Decided<Notice>['onDecided'];
}

function TaskWays({ subject, onDecided }: Ways) {
  const start = useWay(web.triggers.start, texts.started, { onDecided });
  const change = useWay(web.tasks.update, texts.switchedOff, { onDecided, switchedOff: subject });
  const failed = start.error ?? change.error;
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
      </div>
    </>
  );
}

function AgentWays({ subject, onDecided }: Ways) {
  const repair = useWay(web.instance.act, texts.repaired, { onDecided });
  return (
    <>
      {repair.error && <Told tone="danger">{repair.error.message}</Told>}
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
      </div>
    </>
  );
}
