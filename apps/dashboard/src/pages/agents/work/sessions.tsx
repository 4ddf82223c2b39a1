import { web } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useCall } from '../../../api.ts';
import { ago, moment } from '../../../format.ts';
import { sessions as texts } from '../../../texts/work.ts';
import { Card, Status } from '../../../ui/card.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { titleOf } from '../conversations/title.ts';
import { newestAddress } from '../runs/run-name.ts';

const channelName = (channel: string) => texts.channels[channel] ?? channel;

/** All conversations of an agent, whoever began them; each leads to its newest run. */
export function Sessions({ agentId }: { agentId: string }) {
  const read = useCall(web.conversations.list, { params: { id: agentId }, query: { limit: '100' } }, { every: 20_000 });
  return (
    <Card title={texts.title} hint={texts.hint} flush className="overflow-hidden">
      <Table
        label={texts.title}
        rows={read.data?.sessions}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        find={({ channel, key, title }) => `${titleOf(title)} ${channelName(channel)} ${channel} ${key}`}
        empty={<Empty title={texts.empty} />}
        columns={[
          {
            key: 'title',
            header: texts.name,
            free: true,
            sort: ({ title }) => titleOf(title),
            cell: ({ id, title }) => (
              <Link
                to={newestAddress({ agentId, sessionId: id })}
                title={texts.open}
                className="link font-medium wrap-anywhere"
                dir="auto"
              >
                {titleOf(title)}
              </Link>
            ),
          },
          { key: 'channel', header: texts.channel, cell: ({ channel }) => channelName(channel) },
          {
            key: 'status',
            header: texts.status,
            cell: ({ status }) => <Status value={status} text={texts.states[status]} />,
          },
          {
            key: 'steps',
            header: texts.steps,
            end: true,
            minor: true,
            sort: ({ lastSeq }) => lastSeq,
            cell: ({ lastSeq }) => lastSeq,
          },
          {
            key: 'started',
            header: texts.started,
            minor: true,
            cell: ({ createdAt }) => <span title={moment(createdAt)}>{ago(createdAt)}</span>,
          },
          {
            key: 'updated',
            header: texts.updated,
            sort: ({ updatedAt }) => updatedAt,
            cell: ({ updatedAt }) => <span title={moment(updatedAt)}>{ago(updatedAt)}</span>,
          },
        ]}
      />
    </Card>
  );
}
