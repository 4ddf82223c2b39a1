import { web } from '@troupe/contract';
import type { BackgroundTask, SessionStep } from '@troupe/contract';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { call, statusOf, useCall, useSend } from '../../../api.ts';
import { duration, money, short } from '../../../format.ts';
import { useLive } from '../../../live/context.tsx';
import { modelName } from '../../../models.ts';
import { evaluations } from '../../../texts/evaluations.ts';
import { runs as texts } from '../../../texts/runs.ts';
import { Button, IconButton, LinkButton } from '../../../ui/button.tsx';
import { Card, Figure, Figures, Notice } from '../../../ui/card.tsx';
import { cx } from '../../../ui/cx.ts';
import { Refused } from '../../../ui/form.tsx';
import { Page } from '../../../ui/page.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { ForkDialog } from './run-fork.tsx';
import { Inspector } from './run-inspector.tsx';
import { withStep } from '../conversations/steps.ts';
import { placeOf, readRun, stepsOfRun } from './waterfall.ts';
import type { Bar, Run } from './waterfall.ts';

const PAGE = 500;
const MOST_PAGES = 10;

/** From the prompt to the end of the run, or as far as it has come. */
async function readSteps(agentId: string, sessionId: string, first: number): Promise<SessionStep[]> {
  const steps: SessionStep[] = [];
  for (let page = 0, after = first - 1; page < MOST_PAGES; page += 1) {
    const query = { after: String(after), limit: String(PAGE) };
    const { events, hasMore } = await call(web.conversations.get, { params: { id: agentId, sessionId }, query });
    steps.push(...events);
    after = events.at(-1)?.seq ?? after;
    if (!hasMore || events.some(({ type }) => type === 'run_ended')) break;
  }
  return steps;
}

function useRunSteps(agentId: string, sessionId: string, first: number) {
  const queries = useQueryClient();
  const live = useLive();
  const queryKey = useMemo(() => ['run', agentId, sessionId, first] as const, [agentId, sessionId, first]);
  const read = useQuery({ queryKey, queryFn: () => readSteps(agentId, sessionId, first), staleTime: Infinity });
  const steps = useMemo(() => stepsOfRun(read.data ?? [], first), [read.data, first]);
  const isOver = steps.at(-1)?.type === 'run_ended';
  const after = read.data?.at(-1)?.seq;
  useEffect(() => {
    if (isOver || after === undefined) return;
    const add = (step: SessionStep) => queries.setQueryData<SessionStep[]>(queryKey, (old = []) => withStep(old, step));
    return live.watch({ agentId, sessionId, after }, { step: add, text: () => {} });
    // Only where it begins: what comes is added by the watch itself.
  }, [agentId, sessionId, isOver, after === undefined, live, queries, queryKey]);
  return { read, steps, isOver };
}

const NO_TASKS: BackgroundTask[] = [];

/** What the run has in the background: looked at again with every step of its conversation, where their ends are told. */
function useTasks(id: string, session: string, first: number, steps: SessionStep[]): BackgroundTask[] {
  const enabled = steps.some(({ toolCalls = [] }) => toolCalls.some(({ tool }) => tool === 'run_background_agent'));
  const found = useCall(web.background.list, { params: { id }, query: { session, limit: '100' } }, { enabled });
  const live = useLive();
  const runs = found.data?.tasks.some(({ status }) => status === 'running') ?? false;
  const { refetch } = found;
  useEffect(() => {
    if (!enabled) return;
    if (!runs) return void refetch();
    const after = steps.at(-1)?.seq ?? 0;
    return live.watch({ agentId: id, sessionId: session, after }, { step: () => void refetch(), text: () => {} });
  }, [enabled, runs, steps.length, id, session, live, refetch]);
  return useMemo(
    () => found.data?.tasks.filter(({ runSeq }) => runSeq === first).toReversed() ?? NO_TASKS,
    [found.data, first],
  );
}

/** A clock for what goes on. */
function useNow(runs: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [runs]);
  return now;
}

export default function RunPage() {
  const { id, session } = useParams({ strict: false }) as { id: string; session: string };
  const search = useSearch({ strict: false }) as { run?: string; step?: string };
  const first = Number(search.run ?? 1) || 1;
  const navigate = useNavigate();
  const agent = useCall(web.agents.get, { params: { id } });
  const { read, steps, isOver } = useRunSteps(id, session, first);
  const tasks = useTasks(id, session, first, steps);
  const now = useNow(!isOver || tasks.some(({ status }) => status === 'running'));
  const run = useMemo(() => readRun(steps, now, tasks), [steps, now, tasks]);
  const [isForking, setForking] = useState(false);
  const chosen = run.bars.find(({ key }) => key === String(search.step)) ?? run.bars.at(-1);
  const choose = (key: string) =>
    void navigate({ to: '.', search: { run: String(first), step: key } as never, replace: true });
  const name = agent.data?.agent.name ?? '';
  const back = { to: `/dashboard/agents/${id}`, search: { tab: 'chat', c: session }, label: texts.back };
  return (
    <Page
      title={texts.title}
      back={back}
      lead={name}
      actions={
        isOver && (
          <>
            <MakeCase agent={id} session={session} run={first} />
            <MakeSkill agent={id} session={session} run={first} />
          </>
        )
      }
    >
      {read.error ? (
        statusOf(read.error) === 404 ? (
          <Notice tone="spot">{texts.notFound}</Notice>
        ) : (
          <Failure error={read.error} retry={() => void read.refetch()} />
        )
      ) : !read.data ? (
        <Lines rows={6} />
      ) : run.bars.length === 0 ? (
        <Notice tone="spot">{texts.notFound}</Notice>
      ) : (
        <>
          <Sum run={run} />
          <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
            <Waterfall run={run} chosen={chosen} onChoose={choose} />
            {chosen && <Inspector agentId={id} run={run} bar={chosen} onFork={() => setForking(true)} />}
          </div>
        </>
      )}
      {chosen && isForking && (
        <ForkDialog agentId={id} sessionId={session} bar={chosen} onClose={() => setForking(false)} />
      )}
    </Page>
  );
}

/** The run as a case that the agent is tried with from now on. */
function MakeCase({ agent, session, run }: { agent: string; session: string; run: number }) {
  const say = useSay();
  const make = useSend(web.evaluations.createCaseFromRun, {
    refresh: [web.evaluations.listCases],
    done: () => say(evaluations.made),
  });
  const body = { sessionId: session, run };
  return (
    <>
      <Refused error={make.error} />
      <Button
        icon="check"
        busy={make.isPending}
        disabled={make.isSuccess}
        onClick={() => make.mutate({ params: { id: agent }, body })}
      >
        {evaluations.makeCase}
      </Button>
    </>
  );
}

/** The run as a draft of a skill, to be edited there; nothing is kept by it. */
function MakeSkill({ agent, session, run }: { agent: string; session: string; run: number }) {
  return (
    <LinkButton icon="book" to="/dashboard/skills" search={{ agent, session, run: String(run) } as never}>
      {texts.makeSkill}
    </LinkButton>
  );
}

function Sum({ run }: { run: Run }) {
  return (
    <>
      <Figures>
        <Figure
          label={texts.worked}
          value={duration(run.workedMs)}
          note={run.waitedMs > 0 ? `${texts.waited}: ${duration(run.waitedMs)}` : undefined}
        />
        <Figure label={texts.cost} value={money(run.costMicros / 1e6)} />
        <Figure label={texts.tokens} value={short(run.tokens)} />
        <Figure
          label={texts.steps}
          value={run.bars.length}
          note={run.outcome === undefined ? texts.goesOn : (texts.outcomes[run.outcome] ?? run.outcome)}
        />
      </Figures>
      {run.reason && <Notice tone="spot">{run.reason}</Notice>}
    </>
  );
}

const COLOURS: Record<Bar['kind'], string> = {
  prompt: 'bg-ink-faint',
  model: 'bg-accent',
  tool: 'bg-info',
  person: 'bg-spot',
  note: 'bg-line-strong',
  branch: 'bg-accent-ink',
};

function nameOf({ kind, name }: Bar): string {
  if (kind === 'model') return modelName(name);
  return kind === 'note' ? (texts.notes[name] ?? name) : name;
}

function Waterfall({ run, chosen, onChoose }: { run: Run; chosen: Bar | undefined; onChoose: (key: string) => void }) {
  const index = run.bars.findIndex(({ key }) => key === chosen?.key);
  const step = (by: number) => {
    const next = run.bars[index + by];
    if (next) onChoose(next.key);
  };
  const isLast = index === run.bars.length - 1;
  return (
    <Card
      title={texts.waterfall}
      flush
      className={cx('overflow-hidden', !isLast && 'bg-spot-soft!')}
      hint={isLast ? undefined : `${texts.at(index + 1, run.bars.length)}. ${texts.looking}`}
      actions={
        <>
          <IconButton icon="back" label={texts.before} disabled={index <= 0} onClick={() => step(-1)} />
          <IconButton icon="arrow" label={texts.after} disabled={isLast} onClick={() => step(1)} />
        </>
      }
    >
      <ol
        className="flex flex-col pb-2"
        onKeyDown={(event) => {
          if (event.key === 'j' || event.key === 'ArrowDown') step(1);
          else if (event.key === 'k' || event.key === 'ArrowUp') step(-1);
          else return;
          event.preventDefault();
        }}
      >
        {run.bars.map((bar, at) => (
          <li key={bar.key}>
            <Row bar={bar} run={run} isChosen={at === index} isLater={at > index} onClick={() => onChoose(bar.key)} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Row({
  bar,
  run,
  isChosen,
  isLater,
  onClick,
}: {
  bar: Bar;
  run: Run;
  isChosen: boolean;
  isLater: boolean;
  onClick: () => void;
}) {
  const { left, width } = placeOf(bar, run);
  const length = duration(bar.end - bar.start);
  const kind = texts.kinds[bar.kind] ?? bar.kind;
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      onClick={onClick}
      className={cx(
        'grid w-full grid-cols-[minmax(0,9rem)_minmax(0,1fr)_4.5rem] items-center gap-3 px-5 py-1.5 text-left hover:bg-sunken aria-pressed:bg-accent-soft sm:grid-cols-[minmax(0,13rem)_minmax(0,1fr)_4.5rem]',
      )}
    >
      <span className={cx('min-w-0 truncate text-[0.87rem]', bar.kind === 'branch' && 'pl-4')} dir="auto">
        <span
          className={cx('mr-2 inline-block size-2 rounded-full', bar.isError ? 'bg-danger' : COLOURS[bar.kind])}
          aria-hidden="true"
        />
        <span className={nameOf(bar) ? 'sr-only' : ''}>{kind} </span>
        {nameOf(bar)}
      </span>
      <span className="relative h-3 rounded bg-line/60" aria-hidden="true">
        <span
          className={cx(
            'absolute inset-y-0 rounded',
            bar.isError ? 'bg-danger' : COLOURS[bar.kind],
            isLater && 'opacity-30',
          )}
          style={{ insetInlineStart: `${left}%`, width: `${width}%` }}
        />
      </span>
      <span className="num text-right text-[0.82rem] text-ink-soft">{length}</span>
    </button>
  );
}
