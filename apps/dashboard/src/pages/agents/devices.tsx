import { web } from '@troupe/contract';
import type { Device } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { ago, moment } from '../../format.ts';
import { devices as texts } from '../../texts/operate.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import type { Column } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useAgentNames } from './agents/names.ts';
import { pairingCall } from './connections/calls.ts';

const columnsOf = (nameOf: (agentId: string) => string): Column<Device>[] => [
  {
    key: 'name',
    header: texts.name,
    cell: ({ name }) => <span className="font-medium">{name}</span>,
    sort: ({ name }) => name,
  },
  { key: 'agent', header: texts.agent, free: true, cell: ({ agentId }) => (agentId ? nameOf(agentId) : '–') },
  { key: 'ip', header: texts.ip, cell: ({ ip }) => <span className="font-mono text-[0.87rem]">{ip}</span> },
  {
    key: 'first',
    header: texts.firstSeen,
    cell: ({ firstSeen }) => moment(firstSeen),
    sort: ({ firstSeen }) => firstSeen,
  },
  { key: 'last', header: texts.lastSeen, cell: ({ lastSeen }) => ago(lastSeen), sort: ({ lastSeen }) => lastSeen },
];

const pendingColumns = (
  columns: Column<Device>[],
  approve: (device: Device) => void,
  deny: (device: Device) => void,
): Column<Device>[] => [
  ...columns,
  {
    key: 'actions',
    header: '',
    end: true,
    cell: (device) => (
      <span className="inline-flex gap-2">
        <Button small kind="primary" onClick={() => approve(device)}>
          {texts.approve}
        </Button>
        <Button small onClick={() => deny(device)}>
          {texts.deny}
        </Button>
      </span>
    ),
  },
];

const approvedColumns = (columns: Column<Device>[], revoke: (device: Device) => void): Column<Device>[] => [
  ...columns,
  {
    key: 'actions',
    header: '',
    end: true,
    cell: (device) => (
      <Button small kind="danger" onClick={() => revoke(device)}>
        {texts.revoke}
      </Button>
    ),
  },
];

export default function Devices() {
  const read = useCall(web.devices.list, {});
  const { nameOf } = useAgentNames();
  const columns = columnsOf(nameOf);
  const [asking, setAsking] = useState<{ device: Device; action: 'deny' | 'revoke' }>();
  const say = useSay();
  const decide = useSend(web.devices.change, {
    refresh: [web.devices.list],
    done: (_, { body }) => {
      say(texts.done[body.action]!);
      setAsking(undefined);
    },
  });
  const approve = ({ id }: Device) => decide.mutate({ body: { deviceId: id, action: 'approve' } });
  const deny = (device: Device) => setAsking({ device, action: 'deny' });
  const revoke = (device: Device) => setAsking({ device, action: 'revoke' });
  const table = { rowKey: ({ id }: Device) => id, error: read.error, retry: () => void read.refetch() };
  return (
    <Page title={texts.title} lead={texts.lead}>
      {decide.error && !asking && <Notice tone="danger">{decide.error.message}</Notice>}
      <Card title={texts.pending} flush className="overflow-hidden">
        <Table
          {...table}
          label={texts.pending}
          rows={read.data?.pending}
          empty={<Empty title={texts.noPending}>{texts.noPendingHint}</Empty>}
          columns={pendingColumns(columns, approve, deny)}
        />
      </Card>
      <Card title={texts.approved} flush className="overflow-hidden">
        <Table
          {...table}
          label={texts.approved}
          rows={read.data?.approved}
          find={({ name, ip }) => `${name} ${ip}`}
          empty={<Empty title={texts.noApproved} />}
          columns={approvedColumns(columns, revoke)}
        />
      </Card>
      <How />
      <Confirm
        open={asking !== undefined}
        onClose={() => setAsking(undefined)}
        title={
          asking?.action === 'revoke'
            ? texts.revokeTitle(asking.device.name)
            : texts.denyTitle(asking?.device.name ?? '')
        }
        losses={asking?.action === 'revoke' ? texts.revokeLoss : texts.denyLoss}
        action={asking?.action === 'revoke' ? texts.revoke : texts.deny}
        busy={decide.isPending}
        error={decide.error}
        onConfirm={() => asking && decide.mutate({ body: { deviceId: asking.device.id, action: asking.action } })}
      />
    </Page>
  );
}

/** How a device asks. */
function How() {
  return (
    <Card title={texts.how} hint={texts.howHint}>
      <Code label="curl" text={pairingCall(location.origin)} />
    </Card>
  );
}
