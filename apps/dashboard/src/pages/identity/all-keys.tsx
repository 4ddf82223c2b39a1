import { web } from '@troupe/contract';
import type { Device, TypesOf } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { ago } from '../../format.ts';
import { allKeys as texts } from '../../texts/keys.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Code } from '../../ui/code.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { Programs } from './authorization/programs.tsx';
import { Keys } from './keys.tsx';

type Agent = TypesOf<typeof web.agents.list>['reply']['agents'][number];

const agentColumns = (onRotate: (agent: Agent) => void): Column<Agent>[] => [
  { key: 'agent', header: texts.agent, free: true, cell: ({ name }) => name },
  {
    key: 'own',
    header: texts.own,
    cell: ({ ownKeyOf }) => (ownKeyOf === null ? texts.ownPlatform : texts.ownYours(ownKeyOf)),
  },
  {
    key: 'rotate',
    header: '',
    end: true,
    cell: (agent) => (
      <Button small aria-label={`${texts.rotate}: ${agent.name}`} onClick={() => onRotate(agent)}>
        {texts.rotate}
      </Button>
    ),
  },
];

/** API keys, the keys of agents, devices; what signs a person in is a click away. */
export function AllKeys() {
  return (
    <div className="flex flex-col gap-5">
      <p className="text-ink-soft">
        {texts.lead}{' '}
        <Link to="." search={{ tab: 'security' } as never} className="link">
          {texts.elsewhere}
        </Link>
      </p>
      <Keys />
      <Programs />
      <AgentKeys />
      <DeviceKeys />
    </div>
  );
}

function AgentKeys() {
  const read = useCall(web.agents.list, {});
  const [asking, setAsking] = useState<Agent>();
  const [fresh, setFresh] = useState<string>();
  const rotate = useSend(web.agents.rotateToken, {
    refresh: [web.agents.list],
    done: ({ token }) => {
      setAsking(undefined);
      setFresh(token);
    },
  });
  return (
    <Card title={texts.agents} hint={texts.agentsHint} flush className="overflow-hidden">
      <Table
        label={texts.agents}
        rows={read.data?.agents}
        rowKey={({ id }) => id}
        find={({ name }) => name}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.noAgents} />}
        columns={agentColumns(setAsking)}
      />
      <Confirm
        open={asking !== undefined}
        onClose={() => setAsking(undefined)}
        title={texts.rotateTitle(asking?.name ?? '')}
        losses={texts.rotateLoss}
        action={texts.rotate}
        busy={rotate.isPending}
        error={rotate.error}
        onConfirm={() => asking && rotate.mutate({ params: { id: asking.id } })}
      />
      <Dialog
        open={fresh !== undefined}
        onClose={() => setFresh(undefined)}
        title={texts.yourKey}
        hint={texts.shown}
        wide
      >
        <div className="flex flex-col gap-4">
          <Code label={texts.yourKey} text={fresh ?? ''} />
          <div className="flex justify-end">
            <Button kind="primary" onClick={() => setFresh(undefined)}>
              {texts.done}
            </Button>
          </div>
        </div>
      </Dialog>
    </Card>
  );
}

function DeviceKeys() {
  const read = useCall(web.devices.list, {});
  const [asking, setAsking] = useState<Device>();
  const say = useSay();
  const end = useSend(web.devices.change, {
    refresh: [web.devices.list],
    done: () => {
      setAsking(undefined);
      say(texts.revoked);
    },
  });
  return (
    <Card title={texts.devices} hint={texts.devicesHint} flush className="overflow-hidden">
      <Table
        label={texts.devices}
        rows={read.data?.approved}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.noDevices} />}
        columns={[
          { key: 'name', header: texts.device, free: true, cell: ({ name }) => name },
          {
            key: 'ip',
            header: texts.address,
            cell: ({ ip }) => <span className="font-mono text-[0.87rem]">{ip}</span>,
          },
          { key: 'seen', header: texts.lastSeen, cell: ({ lastSeen }) => ago(lastSeen) },
          {
            key: 'end',
            header: '',
            end: true,
            cell: (device) => (
              <Button
                small
                kind="danger"
                aria-label={`${texts.revoke} ${device.name}`}
                onClick={() => setAsking(device)}
              >
                {texts.revoke}
              </Button>
            ),
          },
        ]}
      />
      <Confirm
        open={asking !== undefined}
        onClose={() => setAsking(undefined)}
        title={texts.revokeTitle(asking?.name ?? '')}
        losses={texts.revokeLoss}
        action={texts.revoke}
        busy={end.isPending}
        error={end.error}
        onConfirm={() => asking && end.mutate({ body: { deviceId: asking.id, action: 'revoke' } })}
      />
    </Card>
  );
}
