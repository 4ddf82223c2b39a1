import { web } from '@troupe/contract';
import type { ScheduledTask } from '@troupe/contract';
import { useCall } from '../../../api.ts';
import { duration, moment } from '../../../format.ts';
import { describeCron } from '../../../schedule.ts';
import { tasks as texts } from '../../../texts/operate.ts';
import { Status } from '../../../ui/card.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Markdown } from '../../../ui/markdown.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';

/** What became of each due time. */
export function TaskRuns({ task, onClose }: { task: ScheduledTask; onClose: () => void }) {
  const read = useCall(web.tasks.listRuns, { params: { id: task.id }, query: {} });
  return (
    <Dialog
      open
      onClose={onClose}
      title={task.name}
      hint={`${describeCron(task.cronSchedule)} (${task.timezone}). ${texts.runsHint}`}
      wide
    >
      <Loaded from={read}>
        {({ runs }) =>
          runs.length === 0 ? (
            <Empty title={texts.noRuns}>
              {texts.next}: {moment(task.nextRun)}
            </Empty>
          ) : (
            <ol className="flex flex-col gap-3">
              {runs.map((run) => (
                <li key={run.id} className="rounded-xl border border-line p-4">
                  <div className="flex flex-wrap items-center justify-between gap-2">
                    <span className="num">
                      {moment(run.dueAt)}
                      <span className="text-ink-faint"> {texts.sources[run.source]}</span>
                      {run.occurrences > 1 && (
                        <span className="text-ink-faint"> {texts.standsFor(run.occurrences)}</span>
                      )}
                    </span>
                    <span className="flex items-center gap-3">
                      {run.finishedAt && (
                        <span className="num text-[0.87rem] text-ink-faint">
                          {duration(new Date(run.finishedAt).getTime() - new Date(run.startedAt).getTime())}
                        </span>
                      )}
                      <Status value={run.status} />
                    </span>
                  </div>
                  {run.input && (
                    <details className="mt-2 text-[0.92rem] text-ink-soft">
                      <summary className="cursor-pointer">{texts.arrived}</summary>
                      <pre className="mt-1 max-h-60 overflow-auto rounded-xl bg-sunken p-3 whitespace-pre-wrap">
                        {run.input}
                      </pre>
                    </details>
                  )}
                  {run.error && <p className="mt-2 text-danger">{run.error}</p>}
                  {run.output && (
                    <div className="mt-2 break-words text-ink-soft" dir="auto">
                      <Markdown text={run.output} />
                    </div>
                  )}
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </Dialog>
  );
}
