import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCall } from '../../../api.ts';
import { count, dayOf, duration, money, percent, short } from '../../../format.ts';
import { modelName } from '../../../models.ts';
import { cost as texts } from '../../../texts/money.ts';
import { Card, Figure, Figures } from '../../../ui/card.tsx';
import { Bars, Shares } from '../../../ui/chart.tsx';
import { Page } from '../../../ui/page.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { Segments } from '../../../ui/tabs.tsx';
import { Caps } from './caps.tsx';

type Reply = TypesOf<typeof web.usage.getCosts>['reply'];
type Period = '7d' | '30d' | 'mtd';
const daysOf = (period: Period) => (period === '7d' ? 7 : period === '30d' ? 30 : new Date().getDate());

const agentColumns = (): Column<Reply['agents'][number]>[] => [
  {
    key: 'name',
    header: texts.agent,
    sort: ({ name }) => name,
    cell: ({ agentId, name }) => (
      <Link
        to="/dashboard/agents/$id"
        params={{ id: agentId } as never}
        search={{ tab: 'stats' } as never}
        className="font-medium hover:underline"
      >
        {name}
      </Link>
    ),
  },
  {
    key: 'model',
    header: texts.model,
    cell: ({ model }) => <span title={model}>{modelName(model)}</span>,
  },
  {
    key: 'calls',
    header: texts.calls,
    end: true,
    sort: ({ calls }) => calls,
    cell: ({ calls }) => count(calls),
  },
  {
    key: 'tokens',
    header: texts.tokens,
    end: true,
    sort: ({ tokens }) => tokens,
    cell: ({ tokens }) => short(tokens),
  },
  {
    key: 'cost',
    header: texts.cost,
    end: true,
    sort: ({ cost }) => cost,
    cell: ({ cost }) => money(cost),
  },
];

export default function Cost() {
  const search = useSearch({ strict: false });
  const period = (search['period'] ?? '7d') as Period;
  const navigate = useNavigate();
  const read = useCall(web.usage.getCosts, { query: { period } }, { keep: true, every: 20_000 });
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <Segments
          label={texts.period}
          value={period}
          onChange={(next) => void navigate({ to: '.', search: { period: next } as never })}
          choices={Object.entries(texts.periods).map(([value, label]) => ({ value, label }))}
        />
      }
    >
      <Loaded from={read} rows={8}>
        {(reply) => (
          <>
            <Sums reply={reply} />
            <Card title={texts.daily}>
              {reply.summary.totalCalls === 0 ? (
                <Empty title={texts.none}>{texts.noneHint}</Empty>
              ) : (
                <Bars
                  label={texts.daily}
                  points={reply.daily.map(({ date, cost }) => ({ label: dayOf(date), value: cost }))}
                  format={money}
                />
              )}
            </Card>
            <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1.6fr)_minmax(0,1fr)]">
              <Card title={texts.byAgent} flush className="overflow-hidden">
                <Table
                  label={texts.byAgent}
                  rows={reply.agents}
                  rowKey={({ agentId }) => agentId}
                  find={({ name, model }) => `${name} ${model}`}
                  empty={<Empty title={texts.none} />}
                  columns={agentColumns()}
                />
              </Card>
              <ByModel models={reply.modelBreakdown} />
            </div>
          </>
        )}
      </Loaded>
      {(read.data ?? read.error) && (
        <>
          <Tools days={daysOf(period)} />
          <Caps />
        </>
      )}
    </Page>
  );
}

function ByModel({ models }: { models: Reply['modelBreakdown'] }) {
  return (
    <Card title={texts.byModel}>
      {models.length === 0 ? (
        <p className="text-ink-faint">{texts.none}</p>
      ) : (
        <Shares
          label={texts.byModel}
          points={models.map(({ model, percent: share }) => ({
            label: modelName(model),
            value: share,
          }))}
          format={percent}
        />
      )}
    </Card>
  );
}

/** The period in numbers. */
function Sums({ reply }: { reply: Reply }) {
  const { summary, planMonthlyCost, agentCount, activeAgents } = reply;
  return (
    <Figures>
      <Figure
        label={texts.total}
        value={money(summary.totalCost)}
        note={planMonthlyCost > 0 && texts.planCost(money(planMonthlyCost, 'GBP'))}
      />
      <Figure label={texts.tokens} value={short(summary.totalTokens)} />
      <Figure
        label={texts.calls}
        value={count(summary.totalCalls)}
        note={agentCount > 0 && texts.agentsActive(activeAgents, agentCount)}
      />
      <Figure label={texts.average} value={money(summary.avgCostPerCall)} />
    </Figures>
  );
}

function Tools({ days }: { days: number }) {
  const read = useCall(web.usage.getTools, { query: { days: String(days) } }, { keep: true });
  return (
    <Card title={texts.byTool} flush className="overflow-hidden">
      <Table
        label={texts.byTool}
        rows={read.data?.rows}
        rowKey={({ tool_name: name }) => name}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.noTools} />}
        columns={[
          { key: 'tool', header: texts.tool, sort: (row) => row.tool_name, cell: (row) => row.tool_name },
          {
            key: 'calls',
            header: texts.calls,
            end: true,
            sort: ({ calls }) => calls,
            cell: ({ calls }) => count(calls),
          },
          {
            key: 'ok',
            header: texts.successes,
            end: true,
            cell: ({ successes, calls }) => percent((100 * successes) / Math.max(1, calls)),
          },
          {
            key: 'ms',
            header: texts.averageMs,
            end: true,
            sort: (row) => row.avg_ms,
            cell: (row) => duration(row.avg_ms),
          },
        ]}
      />
    </Card>
  );
}
