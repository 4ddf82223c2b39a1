import { web } from '@troupe/contract';
import { useQuery } from '@tanstack/react-query';
import { Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { call, statusOf, useCall, useSend } from '../../../api.ts';
import { duration, money, percent, short } from '../../../format.ts';
import { evaluations } from '../../../texts/evaluations.ts';
import { runs as texts } from '../../../texts/runs.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Badge, Card, FigureRow, Notice } from '../../../ui/card.tsx';
import { cx } from '../../../ui/cx.ts';
import { Refused } from '../../../ui/form.tsx';
import { usePageKeys } from '../../../ui/keys.ts';
import { Page } from '../../../ui/page.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { readSteps } from '../conversations/conversation.ts';
import { barName } from './bar-name.ts';
import { ForkDialog } from './run-fork.tsx';
import { Inspector } from './run-inspector.tsx';
import { findNewest } from './newest.ts';
import { newestOf, runAddress, runOf, stepIn } from './run-name.ts';
import type { RunPlace } from './run-name.ts';
import { Moves, Sheet, useSheet } from './run-sheet.tsx';
import { CopyLink, NoRun, RunRead, useCopyLink } from './run-states.tsx';
import { useRun } from './use-run.ts';
import { placeOf, slowestOf } from './waterfall.ts';
import type { Bar, Run } from './waterfall.ts';

const CompareDialog = lazy(() => import('./run-choose.tsx').then((part) => ({ default: part.CompareDialog })));

/** Keys that go from step to step. Up and down are the page's own: they scroll it. */
const MOVES: Readonly<Record<string, number>> = { j: 1, k: -1, ArrowRight: 1, ArrowLeft: -1 };

/** The run that the address names; without one, nothing that an agent has is asked for. */
export default function RunPage() {
  const { run } = useParams({ strict: false }) as { run: string };
  const place = useMemo(() => runOf(run), [run]);
  const newest = useMemo(() => newestOf(run), [run]);
  if (newest) return <Newest place={newest} />;
  return place ? <Shown key={run} place={place} /> : <NoRun />;
}

/** Leads on to the newest run of a conversation, which has an address that stays. */
function Newest({ place }: { place: NonNullable<ReturnType<typeof newestOf>> }) {
  const { agentId, sessionId } = place;
  const params = { id: agentId, sessionId };
  const found = useQuery({
    queryKey: ['newest run', agentId, sessionId],
    queryFn: async () => {
      const { session } = await call(web.conversations.get, { params, query: { limit: '1' } });
      return findNewest(place, session.lastSeq, readSteps);
    },
    // It is another one with the next that is said.
    gcTime: 0,
  });
  if (found.data !== undefined) return <Navigate to={runAddress({ ...place, first: found.data })} replace />;
  if (statusOf(found.error) === 404) return <NoRun />;
  return (
    <Page title={texts.title}>
      {found.error ? <Failure error={found.error} retry={() => void found.refetch()} /> : <Lines rows={6} />}
    </Page>
  );
}

function Shown({ place }: { place: RunPlace }) {
  const { agentId, sessionId } = place;
  const search = useSearch({ strict: false }) as { step?: string | number };
  const navigate = useNavigate();
  const agent = useCall(web.agents.get, { params: { id: agentId } });
  const { read, run, isOver } = useRun(place);
  const [open, setOpen] = useState<'fork' | 'compare'>();
  const named = run.bars.findIndex(({ key }) => key === String(search.step));
  const at = named < 0 ? run.bars.length - 1 : named;
  const chosen = run.bars[at];
  const isOpen = search.step !== undefined;
  const sheet = useSheet(isOpen);
  // Another step is no other page: what is in sight stays there.
  const choose = (key: string) =>
    void navigate({ to: '.', search: stepIn(key) as never, replace: !sheet.opens(), resetScroll: false });
  const move = (by: number) => {
    const next = run.bars[at + by];
    if (next) choose(next.key);
  };
  const back = { to: `/dashboard/agents/${agentId}`, search: { tab: 'chat', c: sessionId }, label: texts.back };
  const close = () => setOpen(undefined);
  const copy = useCopyLink();
  usePageKeys((key) => {
    if (run.bars.length === 0) return false;
    if (key === 'f' || key === 'c') setOpen(key === 'f' ? 'fork' : 'compare');
    else if (key === 'y') copy();
    else if (key === 'Escape') return sheet.close();
    else if (!Object.hasOwn(MOVES, key)) return false;
    else move(MOVES[key] ?? 0);
    return true;
  });
  return (
    <Page
      title={texts.title}
      back={back}
      isLow
      lead={<Lead name={agent.data?.agent.name} run={run} />}
      actions={run.bars.length > 0 && <Actions place={place} isOver={isOver} onCompare={() => setOpen('compare')} />}
    >
      <RunRead of={{ read, run }}>
        <Sum run={run} onChoose={choose} />
        <div
          className={cx(
            'grid items-start gap-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]',
            isOpen && 'max-lg:pb-[60dvh]',
          )}
        >
          <Waterfall run={run} at={at} sheet={sheet} onChoose={choose} onMove={move} />
          <Sheet of={sheet} at={at} steps={run.bars.length} onMove={move}>
            {chosen && <Inspector place={place} run={run} bar={chosen} onFork={() => setOpen('fork')} />}
          </Sheet>
        </div>
      </RunRead>
      {chosen && open === 'fork' && (
        <ForkDialog {...{ agentId, sessionId }} bar={chosen} prompt={promptOf(run)} onClose={close} />
      )}
      <Suspense>{open === 'compare' && <CompareDialog place={place} onClose={close} />}</Suspense>
    </Page>
  );
}

const promptOf = ({ bars }: Run): Bar | undefined => bars.find(({ kind }) => kind === 'prompt');

/** Whose it is, and how it ended. */
const Lead = ({ name, run: { outcome, bars } }: { name: string | undefined; run: Run }) => (
  <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
    <bdi>{name}</bdi>
    {bars.length > 0 && (
      <Badge tone={outcome === 'done' ? 'ok' : outcome === undefined ? 'info' : 'spot'}>
        {outcome === undefined ? texts.goesOn : (texts.outcomes[outcome] ?? outcome)}
      </Badge>
    )}
  </span>
);

/** What can be made of a run, in one row that a phone scrolls. */
function Actions({ place, isOver, onCompare }: { place: RunPlace; isOver: boolean; onCompare: () => void }) {
  const { agentId, sessionId, first } = place;
  return (
    <div className="-m-1 flex gap-2 overflow-x-auto p-1 [scrollbar-width:none]">
      <CopyLink small />
      <Button small icon="cost" onClick={onCompare}>
        {texts.compare}
      </Button>
      {isOver && (
        <>
          <MakeCase agent={agentId} session={sessionId} run={first} />
          <MakeSkill agent={agentId} session={sessionId} run={first} />
        </>
      )}
    </div>
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
        small
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
    <LinkButton small icon="book" to="/dashboard/skills" search={{ agent, session, run: String(run) } as never}>
      {texts.makeSkill}
    </LinkButton>
  );
}

function Sum({ run, onChoose }: { run: Run; onChoose: (key: string) => void }) {
  const slowest = slowestOf(run);
  return (
    <>
      <FigureRow
        items={[
          [texts.worked, duration(run.workedMs), run.waitedMs > 0 && texts.waiting(duration(run.waitedMs))],
          [texts.cost, money(run.costMicros / 1e6)],
          [texts.tokens, short(run.tokens)],
          [texts.steps, run.bars.length],
        ]}
      />
      {slowest && (
        <p className="text-ink-soft">
          {texts.slowest}{' '}
          <button type="button" className="link" onClick={() => onChoose(slowest.bar.key)}>
            <bdi>{barName(slowest.bar) || (texts.kinds[slowest.bar.kind] ?? slowest.bar.kind)}</bdi>
          </button>
          {', '}
          <span className="whitespace-nowrap">
            {texts.shareOf(duration(slowest.bar.end - slowest.bar.start), percent(slowest.share * 100))}
          </span>
        </p>
      )}
      {run.reason && <Notice tone="spot">{run.reason}</Notice>}
    </>
  );
}

const COLOURS: Record<Bar['kind'], string> = {
  prompt: 'bg-ink-faint',
  model: 'bg-accent',
  tool: 'bg-info',
  person: 'bg-[repeating-linear-gradient(135deg,var(--color-spot)_0_3px,transparent_3px_6px)]',
  note: 'bg-line-strong',
  branch: 'bg-accent-ink',
};

interface WaterfallProps {
  run: Run;
  /** The step that is looked at, from 0. */
  at: number;
  sheet: ReturnType<typeof useSheet>;
  onChoose: (key: string) => void;
  onMove: (by: number) => void;
}

function Waterfall({ run, at, sheet, onChoose, onMove }: WaterfallProps) {
  const steps = run.bars.length;
  const isLast = at === steps - 1;
  return (
    <Card
      title={texts.waterfall}
      flush
      className={cx('overflow-hidden', !isLast && 'bg-spot-soft!')}
      hint={isLast ? undefined : `${texts.at(at + 1, steps)}. ${texts.looking}`}
      actions={
        <span className="contents max-lg:hidden">
          <Moves at={at} steps={steps} onMove={onMove} />
        </span>
      }
    >
      <ol ref={sheet.list} className="flex flex-col pb-2">
        {run.bars.map((bar, index) => (
          <li key={bar.key}>
            <Row
              bar={bar}
              run={run}
              isChosen={index === at}
              isLater={index > at}
              isCovered={sheet.isOpen}
              onClick={() => onChoose(bar.key)}
            />
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
  isCovered,
  onClick,
}: {
  bar: Bar;
  run: Run;
  isChosen: boolean;
  isLater: boolean;
  /** By what comes up from the lower edge, unless it is scrolled above that. */
  isCovered: boolean;
  onClick: () => void;
}) {
  const { left, width } = placeOf(bar, run);
  const length = duration(bar.end - bar.start);
  const kind = texts.kinds[bar.kind] ?? bar.kind;
  const name = barName(bar);
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      onClick={onClick}
      className={cx(
        'grid w-full grid-cols-[minmax(0,9rem)_minmax(0,1fr)_4.5rem] items-center gap-3 px-5 py-1.5 text-left hover:bg-sunken aria-pressed:bg-accent-soft sm:grid-cols-[minmax(0,13rem)_minmax(0,1fr)_4.5rem] pointer-coarse:min-h-11',
        isCovered && 'max-lg:scroll-mt-20 max-lg:scroll-mb-[64dvh]',
      )}
    >
      <span className={cx('min-w-0 truncate text-[0.87rem]', bar.kind === 'branch' && 'pl-4')} dir="auto">
        <span
          className={cx('mr-2 inline-block size-2 rounded-full', bar.isError ? 'bg-danger' : COLOURS[bar.kind])}
          aria-hidden="true"
        />
        <span className={name ? 'sr-only' : ''}>{kind} </span>
        {name}
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
