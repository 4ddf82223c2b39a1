import { web } from '@troupe/contract';
import { useCall } from '../../api.ts';
import { moment } from '../../format.ts';
import { useSession } from '../../session.ts';
import { audit as texts } from '../../texts/account.ts';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import type { Column } from '../../ui/table.tsx';
import { actorOf, pairs, sentence } from './audit-words.ts';
import type { Entry } from './audit-words.ts';

/** What happened, and below it what belongs to it: a column of its own is too narrow for most of it. */
function What({ entry }: { entry: Entry }) {
  const more = pairs(entry);
  return (
    <div className="min-w-0">
      <span className="font-medium">{texts.actions[entry.action] ?? sentence(entry.action)}</span>
      {more.length > 0 && (
        <dl className="flex flex-wrap gap-x-4 gap-y-0.5 text-[0.9rem] text-ink-soft">
          {more.map(([label, value]) => (
            <div key={label} className="flex min-w-0 flex-wrap gap-x-1.5">
              <dt className="text-ink-faint">{label}</dt>
              <dd className="min-w-0 wrap-anywhere" dir="auto">
                {value}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

/** Administrators see what everybody did, and to whom where that is somebody else. */
const WHO: Column<Entry> = {
  key: 'who',
  header: texts.who,
  width: 26,
  free: true,
  sort: (entry) => actorOf(entry),
  cell: (entry) => (
    <div className="min-w-0">
      <bdi>{actorOf(entry)}</bdi>
      {entry.email !== actorOf(entry) && (
        <span className="block text-[0.9rem] text-ink-soft">
          <bdi>{texts.about(entry.email ?? '–')}</bdi>
        </span>
      )}
    </div>
  ),
};

export function AuditLog() {
  const { user } = useSession();
  const read = useCall(web.audit.list, { query: { limit: '200' } });
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
            key: 'action',
            header: texts.action,
            free: true,
            sort: ({ action }) => action,
            cell: (entry) => <What entry={entry} />,
          },
          ...(user?.isAdmin ? [WHO] : []),
          {
            key: 'when',
            header: texts.when,
            width: 20,
            sort: ({ createdAt }) => createdAt,
            cell: ({ createdAt }) => moment(createdAt),
          },
          {
            key: 'ip',
            header: texts.ip,
            width: 13,
            free: true,
            cell: ({ ip }) => <span className="font-mono text-[0.87rem]">{ip ?? '–'}</span>,
          },
        ]}
      />
    </Card>
  );
}
