import { web } from '@troupe/contract';
import { useCall } from '../../../api.ts';
import { bytes, count, duration, money, percent, short } from '../../../format.ts';
import { modelName } from '../../../models.ts';
import { stats as texts } from '../../../texts/work.ts';
import { Card, Facts, FigureRow, Notice } from '../../../ui/card.tsx';
import { Bars } from '../../../ui/chart.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';

type Value = number | string | null | undefined;
const shown = (value: Value, format: (value: number) => string) =>
  typeof value === 'number' ? format(value) : (value ?? texts.none);

const useStats = (agentId: string) => useCall(web.agents.getStats, { params: { id: agentId } }, { every: 10_000 });

/** The figures that stand above everything else. */
export function Today({ agentId }: { agentId: string }) {
  return (
    <Loaded from={useStats(agentId)} rows={2}>
      {({ stats, status }) => (
        <>
          {status === 'mock' && <Notice tone="spot">{texts.unreachable}</Notice>}
          <FigureRow
            items={[
              [texts.processed, shown(stats.messagesProcessed, count)],
              [texts.perHour, shown(stats.messagesPerHour, count)],
              [texts.response, shown(stats.averageResponseTime, duration)],
              [texts.success, shown(stats.successRate, percent)],
            ]}
          />
        </>
      )}
    </Loaded>
  );
}

export function Costs({ agentId }: { agentId: string }) {
  return (
    <div className="flex flex-col gap-5">
      <Daily agentId={agentId} />
      <Loaded from={useStats(agentId)} rows={3}>
        {({ stats }) => (
          <Card title={texts.now} hint={stats.pids === 0 ? texts.idle : undefined}>
            <Facts
              items={[
                [texts.uptime, shown(stats.uptime, (seconds) => duration(Math.max(1, seconds) * 1000))],
                ...(stats.pids === 0
                  ? []
                  : ([
                      [texts.cpu, shown(stats.cpu, percent)],
                      [texts.memory, shown(stats.memory, bytes)],
                      [texts.processes, shown(stats.pids, count)],
                    ] as [string, string][])),
                [texts.errors, shown(stats.errorRate, percent)],
              ]}
            />
          </Card>
        )}
      </Loaded>
      <Usage agentId={agentId} />
    </div>
  );
}

const DAYS = 30;
const label = (day: string) =>
  new Date(day).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** What it cost on each of the last days; days without a call count, too. */
function Daily({ agentId }: { agentId: string }) {
  const read = useCall(web.usage.getSummary, { query: { days: String(DAYS), agentId } });
  const rows = read.data?.rows ?? [];
  const free = rows.length > 0 && rows.every((row) => row.cost_usd === 0);
  const title = free ? texts.dailyTokens : texts.daily;
  return (
    <Card title={title}>
      <Loaded from={read}>
        {() => {
          if (rows.length === 0) return <Empty title={texts.noUsage} />;
          const points = lastDays().map((day) => ({
            label: label(day),
            value: rows
              .filter(({ date }) => date === day)
              .reduce((sum, row) => sum + (free ? row.total_tokens : row.cost_usd), 0),
          }));
          return <Bars label={title} points={points} format={free ? short : money} />;
        }}
      </Loaded>
    </Card>
  );
}

const lastDays = () =>
  Array.from({ length: DAYS }, (_, index) =>
    new Date(Date.now() - (DAYS - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  );

function Usage({ agentId }: { agentId: string }) {
  const read = useCall(web.usage.getByAgent, { params: { agentId }, query: {} });
  return (
    <Card title={texts.usage} flush className="overflow-hidden">
      <Table
        label={texts.usage}
        rows={read.data?.rows}
        rowKey={({ model, provider }) => `${model}-${provider}`}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.noUsage} />}
        columns={[
          {
            key: 'model',
            header: texts.model,
            cell: ({ model }) => <span title={model}>{modelName(model)}</span>,
          },
          { key: 'calls', header: texts.calls, end: true, cell: ({ events }) => count(events) },
          { key: 'tokens', header: texts.tokens, end: true, cell: (row) => short(row.total_tokens) },
          { key: 'cost', header: texts.cost, end: true, cell: (row) => money(row.cost_usd) },
        ]}
      />
    </Card>
  );
}
