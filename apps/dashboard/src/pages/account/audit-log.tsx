import { listAudit } from '@troupe/contract';
import { useCall } from '../../api.ts';
import { moment } from '../../format.ts';
import { audit as texts } from '../../texts/account.ts';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

const words = (detail: unknown) =>
  detail && typeof detail === 'object'
    ? Object.entries(detail)
        .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ')
    : '';

export function AuditLog() {
  const read = useCall(listAudit, { query: { limit: '200' } });
  return (
    <Card title={texts.title} hint={texts.hint} flush className="overflow-hidden">
      <Table
        label={texts.title}
        rows={read.data?.entries}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        find={(entry) => JSON.stringify(entry)}
        empty={<Empty title={texts.none} />}
        columns={[
          {
            key: 'when',
            header: texts.when,
            width: 22,
            sort: ({ createdAt }) => createdAt,
            cell: ({ createdAt }) => moment(createdAt),
          },
          {
            key: 'action',
            header: texts.action,
            width: 25,
            sort: ({ action }) => action,
            cell: ({ action }) => <code className="text-[0.87rem]">{action}</code>,
          },
          {
            key: 'detail',
            header: texts.detail,
            cell: ({ detail }) => <span className="break-words text-ink-soft">{words(detail)}</span>,
          },
          {
            key: 'ip',
            header: texts.ip,
            width: 15,
            cell: ({ ip }) => <span className="font-mono text-[0.87rem]">{ip ?? '–'}</span>,
          },
        ]}
      />
    </Card>
  );
}
