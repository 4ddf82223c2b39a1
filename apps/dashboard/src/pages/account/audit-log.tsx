import { listAudit } from '@troupe/contract';
import { useCall } from '../../api.ts';
import { moment } from '../../format.ts';
import { audit as texts } from '../../texts/account.ts';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

/** Ids say nothing to people; the address has a column of its own. */
const HIDDEN = new Set(['id', 'agentId', 'paymentId', 'ip', 'userId', 'email']);

const words = (detail: unknown) =>
  detail && typeof detail === 'object'
    ? Object.entries(detail)
        .filter(([key, value]) => !HIDDEN.has(key) && value !== null)
        .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ')
    : '';

/** An action without words of its own: `key-created` is "Key created". */
const sentence = (action: string) => action.charAt(0).toUpperCase() + action.slice(1).replaceAll(/[-_.]/g, ' ');

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
            cell: ({ action }) => <span className="font-medium">{texts.actions[action] ?? sentence(action)}</span>,
          },
          {
            key: 'detail',
            header: texts.detail,
            cell: ({ detail }) => {
              const text = words(detail);
              return text && <span className="break-words text-ink-soft">{text}</span>;
            },
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
