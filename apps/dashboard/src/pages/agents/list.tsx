import { listAgents } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useCall } from '../../api.ts';
import { ago, moment } from '../../format.ts';
import { agents as texts } from '../../texts/agents.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Card, Status } from '../../ui/card.tsx';
import { Mask } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

export default function Agents() {
  const read = useCall(listAgents, {}, { every: 10_000 });
  const create = (
    <LinkButton kind="primary" icon="plus" to="/dashboard/agents/new">
      {texts.new}
    </LinkButton>
  );
  return (
    <Page title={texts.title} lead={texts.lead} actions={create}>
      <Card flush className="overflow-hidden pt-3">
        <Table
          label={texts.title}
          rows={read.data?.agents}
          rowKey={({ id }) => id}
          error={read.error}
          retry={() => void read.refetch()}
          find={({ name, model, status }) => `${name} ${model} ${status}`}
          empty={
            <Empty title={texts.empty} action={create}>
              {texts.emptyHint}
            </Empty>
          }
          columns={[
            {
              key: 'name',
              header: texts.name,
              width: 38,
              sort: ({ name }) => name,
              cell: ({ id, name }) => (
                <Link
                  to="/dashboard/agents/$id"
                  params={{ id } as never}
                  className="flex min-w-0 items-center gap-3 font-medium"
                >
                  <Mask seed={id} size={30} />
                  <span className="min-w-0 truncate hover:underline">{name}</span>
                </Link>
              ),
            },
            {
              key: 'model',
              header: texts.model,
              sort: ({ model }) => model ?? '',
              cell: ({ model }) => <span className="font-mono text-[0.85rem] break-all">{model}</span>,
            },
            {
              key: 'status',
              header: texts.status,
              width: 16,
              sort: ({ status }) => status,
              cell: ({ status }) => <Status value={status} />,
            },
            {
              key: 'created',
              header: texts.created,
              width: 18,
              sort: ({ createdAt }) => createdAt,
              cell: ({ createdAt }) => <span title={moment(createdAt)}>{ago(createdAt)}</span>,
            },
          ]}
        />
      </Card>
    </Page>
  );
}
