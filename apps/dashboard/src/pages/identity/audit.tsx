import { web } from '@troupe/contract';
import { useCall } from '../../api.ts';
import { moment } from '../../format.ts';
import { useSession } from '../../session.ts';
import { audit as texts } from '../../texts/account.ts';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import type { Column } from '../../ui/table.tsx';
import { actorOf, sentence, words } from './audit-words.ts';
import type { Entry } from './audit-words.ts';

/** Administrators see what everybody did. */
const WHO: Column<Entry> = {
  key: 'who',
  header: texts.who,
  width: 22,
  free: true,
  sort: (entry) => actorOf(entry),
  cell: (entry) => <bdi>{actorOf(entry)}</bdi>,
};

/** Whom it is about, where that is somebody else. */
const ABOUT: Column<Entry> = {
  key: 'about',
  header: texts.about,
  width: 18,
  free: true,
  cell: (entry) => (entry.email === actorOf(entry) ? '' : <bdi>{entry.email ?? '–'}</bdi>),
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
            key: 'when',
            header: texts.when,
            width: 17,
            sort: ({ createdAt }) => createdAt,
            cell: ({ createdAt }) => moment(createdAt),
          },
          {
            key: 'action',
            header: texts.action,
            width: 19,
            sort: ({ action }) => action,
            cell: ({ action }) => <span className="font-medium">{texts.actions[action] ?? sentence(action)}</span>,
          },
          ...(user?.isAdmin ? [WHO, ABOUT] : []),
          {
            key: 'detail',
            header: texts.detail,
            free: true,
            cell: (entry) => {
              const text = words(entry);
              return text && <span className="text-ink-soft">{text}</span>;
            },
          },
          {
            key: 'ip',
            header: texts.ip,
            width: 12,
            cell: ({ ip }) => <span className="font-mono text-[0.87rem]">{ip ?? '–'}</span>,
          },
        ]}
      />
    </Card>
  );
}
