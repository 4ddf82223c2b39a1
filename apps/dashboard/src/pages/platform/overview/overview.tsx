import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useCall } from '../../../api.ts';
import { coming, count, dayOf, money } from '../../../format.ts';
import { keep, kept } from '../../../keeping.ts';
import { useSession } from '../../../session.ts';
import { states } from '../../../texts/common.ts';
import { overview as texts } from '../../../texts/overview.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Card, Figure, Figures } from '../../../ui/card.tsx';
import { Bars } from '../../../ui/chart.tsx';
import { cx } from '../../../ui/cx.ts';
import { Icon } from '../../../ui/icons.tsx';
import { ClosedNotice } from '../../identity/account/account.tsx';
import { Page } from '../../../ui/page.tsx';
import { AccessCard, useAccess } from '../../identity/access.tsx';
import { SayBar } from '../../agents/say/say-bar.tsx';
import { Attention } from './attention.tsx';
import { Brief } from './brief.tsx';
import { Stage } from './stage.tsx';
import { isDone, isRunning, isSettled, isUnderWay, nextOf, stepsOf } from './progress.ts';
import type { Done } from './progress.ts';

/** What of getting started is set up: a provider, which only administrators can do something about, and a cap. */
function useSetup(isAdmin: boolean) {
  const models = useCall(web.models.list, {});
  const caps = useCall(web.usage.getCaps, {});
  // The first start makes a password for an administrator, and for nobody else.
  const factors = useCall(web.factors.list, {}, { enabled: isAdmin });
  const reads: { data?: unknown; error: Error | null }[] = [models, caps, ...(isAdmin ? [factors] : [])];
  return {
    reads,
    done: {
      ...(factors.data?.password === 'given' && { password: false }),
      ...(isAdmin && { provider: models.data?.sandboxOnly === false }),
      cap: (caps.data?.caps.length ?? 0) > 0,
    },
  };
}

/** All that the page reads, and how far somebody has come. */
function useOverview() {
  const { user } = useSession();
  const agents = useCall(web.agents.list, {});
  const cost = useCall(web.usage.getCosts, { query: { period: '7d' } });
  const tasks = useCall(web.tasks.list, { query: {} });
  const health = useCall(web.health.get, {}, { every: 30_000 });
  const access = useAccess();
  const setup = useSetup(user?.isAdmin === true);
  const done = {
    plan: access.data?.state === 'member',
    ...setup.done,
    agent: (agents.data?.agents.length ?? 0) > 0,
    chat: (cost.data?.summary.totalCalls ?? 0) > 0,
    task: (tasks.data?.count ?? 0) > 0,
  };
  return {
    name: user?.name ?? '',
    reads: { agents, cost, tasks, health },
    access,
    done,
    guide: useGuide([agents, cost, tasks, access, ...setup.reads], done),
  };
}

/** How far somebody had come when the page was last open: that stands there until it is known anew. */
const GUIDE = 'overview-guide';

/** What of the way is done; null: nobody knows yet, undefined: there is nothing to show. */
function useGuide(reads: readonly { data?: unknown; error: Error | null }[], done: Done): Done | null | undefined {
  const [before] = useState(() => kept(GUIDE));
  const isKnown = reads.every(({ data }) => data !== undefined);
  const now = isKnown ? JSON.stringify(done) : undefined;
  useEffect(() => {
    if (now !== undefined) keep(GUIDE, JSON.parse(now));
  }, [now]);
  if (isKnown) return isUnderWay(done) ? done : undefined;
  if (isSettled(reads)) return undefined;
  if (!isDone(before)) return null;
  return isUnderWay(before) ? before : undefined;
}

type Reads = ReturnType<typeof useOverview>['reads'];

export default function Overview() {
  const { name, reads, access, done, guide } = useOverview();
  return (
    <Page
      title={texts.title(name)}
      actions={
        // Who has no plan yet is shown the way to one, not a form that would be refused.
        done.plan && (
          <LinkButton kind="primary" icon="plus" to="/dashboard/agents/new">
            {texts.newAgent}
          </LinkButton>
        )
      }
    >
      <ClosedNotice />
      <AccessCard />
      {guide && <Guide done={guide} firstAgent={reads.agents.data?.agents[0]?.id} />}
      {guide === null && <GuideToCome />}
      {done.plan && <SayBar />}
      {!access.data && !access.error && <div className="skeleton h-[2.65rem] rounded-lg" />}
      <InFigures {...reads} />
      {/* What needs somebody comes first to whoever scrolls, listens or goes by Tab. */}
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1.5fr)_minmax(0,1fr)] lg:grid-rows-[auto_1fr]">
        <div className="min-w-0 lg:col-start-2 lg:row-start-1">
          <Attention />
        </div>
        <div className="flex min-w-0 flex-col gap-5 lg:col-start-1 lg:row-span-2 lg:row-start-1">
          <Stage />
          <Daily cost={reads.cost.data} />
        </div>
        <div className="min-w-0 lg:col-start-2 lg:row-start-2">
          <Brief />
        </div>
      </div>
    </Page>
  );
}

/** Room for a figure, and for what stands below it. */
const COMING = <span className="skeleton block h-[1.25em] w-20 max-w-full" />;
const COMING_NOTE = <span className="skeleton block h-[1.5em] w-28 max-w-full" />;

const valueOf = <T,>({ data, error }: { data: T | undefined; error: Error | null }, words: (data: T) => string) =>
  data !== undefined ? words(data) : error ? '–' : COMING;
const noteOf = <T,>({ data, error }: { data: T | undefined; error: Error | null }, words: (data: T) => string) =>
  data !== undefined ? words(data) : error ? undefined : COMING_NOTE;

function InFigures({ agents, cost, tasks, health }: Reads) {
  const nextIn = (list: Parameters<typeof nextOf>[0]): string => {
    const next = nextOf(list);
    return next ? texts.nextTask(coming(next)) : texts.noTask;
  };
  return (
    <Figures>
      <Figure
        label={texts.agents}
        value={valueOf(agents, (read) => count(read.agents.length))}
        note={noteOf(agents, (read) => texts.running(read.agents.filter(isRunning).length, read.agents.length))}
      />
      <Figure
        label={texts.spend}
        value={valueOf(cost, ({ summary }) => money(summary.totalCost))}
        note={noteOf(cost, ({ summary: { totalCalls } }) => texts.calls(totalCalls, count(totalCalls)))}
      />
      <Figure
        label={texts.tasks}
        value={valueOf(tasks, (read) => count(read.count))}
        note={noteOf(tasks, (read) => nextIn(read.tasks))}
      />
      <Figure label={texts.health} value={valueOf(health, (read) => texts.healthWords[read.health] ?? read.health)} />
    </Figures>
  );
}

/** What the days cost. */
function Daily({ cost }: { cost: TypesOf<typeof web.usage.getCosts>['reply'] | undefined }) {
  return (
    <>
      {cost && cost.summary.totalCost > 0 && (
        <Card
          title={texts.daily}
          actions={
            <LinkButton small kind="quiet" to="/dashboard/cost">
              {texts.costLink}
            </LinkButton>
          }
        >
          <Bars
            label={texts.daily}
            points={cost.daily.map(({ date, cost: value }) => ({ label: dayOf(date), value }))}
            format={money}
          />
        </Card>
      )}
    </>
  );
}

/** So that none stands alone in the last row. */
const inColumns = (steps: number): string =>
  cx('grid grid-cols-1 gap-3 sm:grid-cols-2', steps % 3 === 1 ? 'xl:grid-cols-4' : 'xl:grid-cols-3');

/** The same shape, for somebody who is here for the first time. */
const GuideToCome = () => (
  <Card title={texts.guide} hint={<span className="skeleton block h-[1.4em] w-56 max-w-full" />}>
    <div role="status" aria-label={states.loading} className={inColumns(Object.keys(texts.steps).length)}>
      {Object.keys(texts.steps).map((step, index) => (
        <div key={step} className={cx('skeleton h-[4.75rem] rounded-xl', index > 2 && 'max-sm:hidden')} />
      ))}
    </div>
  </Card>
);

/** Where a step is a part of a page. */
const TABS: Readonly<Record<string, string>> = { provider: 'providers', password: 'security' };

/** The way from sign-up to a working agent. It shows what is done by looking, not by remembering. */
function Guide({ done, firstAgent }: { done: Done; firstAgent: string | undefined }) {
  const links: Record<string, string> = {
    provider: '/dashboard/admin',
    password: '/dashboard/settings',
    cap: '/dashboard/cost',
    agent: '/dashboard/agents/new',
    chat: firstAgent ? `/dashboard/agents/${firstAgent}` : '/dashboard/agents/new',
    task: '/dashboard/tasks',
  };
  const { steps, current } = stepsOf(texts.steps, done);
  return (
    <Card title={texts.guide} hint={texts.guideHint(steps.filter(([step]) => done[step]).length, steps.length)}>
      <ol className={inColumns(steps.length)}>
        {steps.map(([step, [title, hint]], index) => (
          // On a phone what is done leaves room for what needs somebody.
          <li key={step} className={done[step] ? 'max-sm:hidden' : undefined}>
            <Link
              to={links[step]!}
              {...(TABS[step] && { search: { tab: TABS[step] } as never })}
              className={cx(
                'flex h-full gap-3 rounded-xl border p-3',
                step === current ? 'border-accent bg-accent-soft' : 'border-line hover:border-line-strong',
              )}
            >
              <span
                className={cx(
                  'grid size-7 shrink-0 place-items-center rounded-full text-[0.85rem] font-semibold',
                  done[step] ? 'bg-accent text-on-accent' : 'border border-line-strong',
                )}
              >
                {done[step] ? <Icon name="check" size={15} /> : index + 1}
              </span>
              <span className="min-w-0">
                <span className="block font-medium">
                  {title} {done[step] && <span className="sr-only">({texts.done})</span>}
                </span>
                <span className="block text-[0.88rem] text-ink-soft">{hint}</span>
              </span>
            </Link>
          </li>
        ))}
      </ol>
    </Card>
  );
}
