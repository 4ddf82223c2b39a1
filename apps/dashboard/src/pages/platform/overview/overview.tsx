import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useCall } from '../../../api.ts';
import { coming, count, dayOf, money } from '../../../format.ts';
import { useSession } from '../../../session.ts';
import { overview as texts } from '../../../texts/overview.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Card, Figure, Figures } from '../../../ui/card.tsx';
import { Bars } from '../../../ui/chart.tsx';
import { cx } from '../../../ui/cx.ts';
import { Icon } from '../../../ui/icons.tsx';
import { ClosedNotice } from '../../identity/account/account.tsx';
import { Page } from '../../../ui/page.tsx';
import { Lines } from '../../../ui/states.tsx';
import { AccessCard, useAccess } from '../../identity/access.tsx';
import { SayBar } from '../../agents/say/say-bar.tsx';
import { Attention } from './attention.tsx';
import { Brief } from './brief.tsx';
import { Stage } from './stage.tsx';
import { isRunning, isSettled, nextOf, stepsOf } from './progress.ts';

/** What of getting started is set up: a provider, which only administrators can do something about, and a cap. */
function useSetup(isAdmin: boolean) {
  const models = useCall(web.models.list, {});
  const caps = useCall(web.usage.getCaps, {});
  // The first start makes a password for an administrator, and for nobody else.
  const factors = useCall(web.factors.list, {}, { enabled: isAdmin });
  const reads: { data?: unknown; error: Error | null }[] = [models, caps, ...(isAdmin ? [factors] : [])];
  return {
    reads,
    isKnown: reads.every(({ data }) => data !== undefined),
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
  const isKnown = agents.data && cost.data && tasks.data && access.data && setup.isKnown;
  const isSetUp = Object.values(done).every(Boolean);
  return {
    name: user?.name ?? '',
    reads: { agents, cost, tasks, health },
    done,
    asksForMore: isKnown && done.plan && !isSetUp,
    settled: isSettled([agents, cost, tasks, access, ...setup.reads]),
  };
}

type Reads = ReturnType<typeof useOverview>['reads'];

export default function Overview() {
  const { name, reads, done, asksForMore, settled } = useOverview();
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
      {!settled && <Lines rows={8} />}
      {settled && (
        <>
          <AccessCard />
          {asksForMore && <Guide done={done} firstAgent={reads.agents.data?.agents[0]?.id} />}
          {done.plan && <SayBar />}
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
        </>
      )}
    </Page>
  );
}

function InFigures({ agents, cost, tasks, health }: Reads) {
  const list = agents.data?.agents ?? [];
  const next = nextOf(tasks.data?.tasks ?? []);
  return (
    <Figures>
      <Figure
        label={texts.agents}
        value={agents.data ? count(list.length) : '–'}
        note={agents.data && texts.running(list.filter(isRunning).length, list.length)}
      />
      <Figure
        label={texts.spend}
        value={cost.data ? money(cost.data.summary.totalCost) : '–'}
        note={cost.data && texts.calls(cost.data.summary.totalCalls, count(cost.data.summary.totalCalls))}
      />
      <Figure
        label={texts.tasks}
        value={tasks.data ? count(tasks.data.count) : '–'}
        note={tasks.data && (next ? texts.nextTask(coming(next)) : texts.noTask)}
      />
      <Figure label={texts.health} value={health.data ? texts.healthWords[health.data.health] : '–'} />
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

/** Where a step is a part of a page. */
const TABS: Readonly<Record<string, string>> = { provider: 'providers', password: 'security' };

/** The way from sign-up to a working agent. It shows what is done by looking, not by remembering. */
function Guide({ done, firstAgent }: { done: Record<string, boolean>; firstAgent: string | undefined }) {
  const links: Record<string, string> = {
    plan: '/dashboard/billing',
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
      <ol className="grid grid-cols-1 gap-3 sm:grid-cols-2 xl:grid-cols-3">
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
