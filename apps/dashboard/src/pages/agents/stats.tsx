import { getAgentStats, usageByAgent } from '@troupe/contract';
import { useCall } from '../../api.ts';
import { bytes, count, duration, money, percent, short } from '../../format.ts';
import { stats as texts } from '../../texts/agents.ts';
import { Card, Facts, Figure, Figures, Notice } from '../../ui/card.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

type Value = number | string | null | undefined;
const shown = (value: Value, format: (value: number) => string) =>
  typeof value === 'number' ? format(value) : (value ?? texts.none);

export function Stats({ agentId }: { agentId: string }) {
  const read = useCall(getAgentStats, { params: { id: agentId } }, { every: 5000 });
  return (
    <div className="flex flex-col gap-5">
      <Loaded from={read}>
        {({ stats, status }) => (
          <>
            {status === 'mock' && <Notice tone="spot">{texts.unreachable}</Notice>}
            <Figures>
              <Figure label={texts.processed} value={shown(stats.messagesProcessed, count)} />
              <Figure label={texts.perHour} value={shown(stats.messagesPerHour, count)} />
              <Figure label={texts.response} value={shown(stats.averageResponseTime, duration)} />
              <Figure label={texts.success} value={shown(stats.successRate, percent)} />
            </Figures>
            <Card>
              <Facts
                items={[
                  [texts.uptime, stats.uptimeFormatted ?? texts.none],
                  [texts.cpu, shown(stats.cpu, percent)],
                  [texts.memory, shown(stats.memory, bytes)],
                  [texts.processes, shown(stats.pids, count)],
                  [texts.errors, shown(stats.errorRate, percent)],
                ]}
              />
            </Card>
          </>
        )}
      </Loaded>
      <Usage agentId={agentId} />
    </div>
  );
}

function Usage({ agentId }: { agentId: string }) {
  const read = useCall(usageByAgent, { params: { agentId }, query: {} }, { every: 15_000 });
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
            cell: ({ model }) => <span className="font-mono text-[0.85rem] break-all">{model}</span>,
          },
          { key: 'calls', header: texts.calls, end: true, cell: ({ events }) => count(events) },
          { key: 'tokens', header: texts.tokens, end: true, cell: (row) => short(row.total_tokens) },
          { key: 'cost', header: texts.cost, end: true, cell: (row) => money(row.cost_usd) },
        ]}
      />
    </Card>
  );
}
