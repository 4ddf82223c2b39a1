import { web } from '@troupe/contract';
import { useCall } from '../../api.ts';
import { ago, moment } from '../../format.ts';
import { installations as texts } from '../../texts/operate.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Card, Status } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

export default function Installations() {
  const read = useCall(web.installations.list, {}, { every: 10_000 });
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <LinkButton to="/dashboard/settings" search={{ tab: 'keys' } as never} icon="plus">
          {texts.makeKey}
        </LinkButton>
      }
    >
      <div className="grid gap-5 lg:grid-cols-2">
        <Card title={texts.home} hint={texts.homeHint}>
          <Code label="sh" text={`curl -fsSL ${location.origin}/install | sh`} />
        </Card>
        <Card title={texts.link} hint={texts.linkHint}>
          <Code label="sh" text={`curl -fsSL ${location.origin}/link | sh`} />
        </Card>
      </div>
      <p className="text-ink-soft">{texts.key}</p>
      <Card title={texts.list} hint={texts.quiet} flush className="overflow-hidden">
        <Table
          label={texts.list}
          rows={read.data?.installations}
          rowKey={({ user_id: user, mode }) => `${user}-${mode}`}
          error={read.error}
          retry={() => void read.refetch()}
          empty={<Empty title={texts.empty}>{texts.emptyHint}</Empty>}
          columns={[
            { key: 'mode', header: texts.mode, cell: ({ mode }) => <span className="capitalize">{mode}</span> },
            { key: 'status', header: texts.status, cell: ({ status }) => <Status value={status} /> },
            { key: 'seen', header: texts.lastSeen, cell: ({ last_seen: seen }) => ago(seen) },
            { key: 'at', header: texts.registered, cell: ({ registered_at: at }) => moment(at) },
          ]}
        />
      </Card>
    </Page>
  );
}
