import { web } from '@troupe/contract';
import type { Device, TypesOf } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useCall } from '../../api.ts';
import { ago } from '../../format.ts';
import { allKeys as texts } from '../../texts/keys.ts';
import { useAsk } from '../../ui/ask.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { Programs } from './authorization/programs.tsx';
import { FreshKey } from './fresh-key.tsx';
import { Keys } from './keys.tsx';
import { ModelKeys } from './model-keys.tsx';

type Agent = TypesOf<typeof web.agents.list>['reply']['agents'][number];

const agentColumns = (onRotate: (agent: Agent) => void): Column<Agent>[] => [
  { key: 'agent', header: texts.agent, free: true, cell: ({ name }) => name },
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
      <ModelKeys />
      <Programs />
      <AgentKeys />
      <DeviceKeys />
    </div>
  );
}

function AgentKeys() {
  const read = useCall(web.agents.list, {});
  const [fresh, setFresh] = useState<string>();
  const rotate = useAsk(web.agents.rotateToken, ({ id }: Agent) => ({ params: { id } }), {
    refresh: [web.agents.list],
    done: ({ token }) => setFresh(token),
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
        columns={agentColumns(rotate.ask)}
      />
      <Confirm
        {...rotate.confirm}
        title={texts.rotateTitle(rotate.subject?.name ?? '')}
        losses={texts.rotateLoss}
        action={texts.rotate}
      />
      <FreshKey title={texts.yourKey} hint={texts.shown} secret={fresh} onClose={() => setFresh(undefined)} />
    </Card>
  );
}

const deviceColumns = (onEnd: (device: Device) => void): Column<Device>[] => [
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
      <Button small kind="danger" aria-label={`${texts.revoke} ${device.name}`} onClick={() => onEnd(device)}>
        {texts.revoke}
      </Button>
    ),
  },
];

function DeviceKeys() {
  const read = useCall(web.devices.list, {});
  const say = useSay();
  const end = useAsk(web.devices.change, ({ id }: Device) => ({ body: { deviceId: id, action: 'revoke' as const } }), {
    refresh: [web.devices.list],
    done: () => say(texts.revoked),
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
        columns={deviceColumns(end.ask)}
      />
      <Confirm
        {...end.confirm}
        title={texts.revokeTitle(end.subject?.name ?? '')}
        losses={texts.revokeLoss}
        action={texts.revoke}
      />
    </Card>
  );
}
