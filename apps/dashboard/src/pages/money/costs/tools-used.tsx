import { web } from '@troupe/contract';
import { useCall } from '../../../api.ts';
import { count, duration, percent } from '../../../format.ts';
import { costs as texts } from '../../../texts/costs.ts';
import { Card } from '../../../ui/card.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';

/** Up to today, which is all that is kept of tools. */
export function ToolsUsed({ days }: { days: number }) {
  const read = useCall(web.usage.getTools, { query: { days: String(Math.min(365, days)) } }, { keep: true });
  return (
    <Card title={texts.byTool} hint={texts.byToolHint(days)} flush className="overflow-hidden">
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
            header: texts.callsHead,
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
