import { web } from '@troupe/contract';
import type { Device } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { ago } from '../../../format.ts';
import { devices as texts } from '../../../texts/connections.ts';
import { devices as words } from '../../../texts/operate.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { Code } from '../../../ui/code.tsx';
import { Confirm, Dialog } from '../../../ui/dialog.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { pairingCall } from './calls.ts';
import { Kind, Row } from './parts.tsx';
import type { Act } from './parts.tsx';

/** Phones and computers that talk to this agent, and those that wait to. */
export function AgentDevices({ agentId }: { agentId: string }) {
  const read = useCall(web.devices.list, {});
  const own = [...(read.data?.pending ?? []), ...(read.data?.approved ?? [])].filter((one) => one.agentId === agentId);
  return (
    <Kind
      title={words.title}
      hint={texts.hint}
      read={read}
      rows={read.data && own.map((device) => <One key={device.id} device={device} />)}
      none={texts.none}
      add={{ label: texts.add, form: (close) => <How agentId={agentId} onClose={close} /> }}
    />
  );
}

const How = ({ agentId, onClose }: { agentId: string; onClose: () => void }) => (
  <Dialog open onClose={onClose} title={words.how} hint={texts.howHint} wide>
    <div className="flex flex-col gap-4">
      <Code label="curl" text={pairingCall(location.origin)} />
      <div>
        <LinkButton
          to="/dashboard/agents/$id"
          params={{ id: agentId } as never}
          search={{ tab: 'settings', part: 'manage' } as never}
        >
          {texts.toToken}
        </LinkButton>
      </div>
    </div>
  </Dialog>
);

type Action = 'approve' | 'deny' | 'revoke';

function One({ device: { id, name, ip, lastSeen, status } }: { device: Device }) {
  const [asking, setAsking] = useState<'deny' | 'revoke'>();
  const say = useSay();
  const decide = useSend(web.devices.change, {
    refresh: [web.devices.list],
    done: (_, { body }) => {
      say(words.done[body.action]!);
      setAsking(undefined);
    },
  });
  const send = (action: Action) => decide.mutate({ body: { deviceId: id, action } });
  const act = (action: Action, onClick: () => void): Act => ({
    label: words[action],
    onClick,
    isDanger: action === 'revoke',
  });
  const isWaiting = status === 'pending';
  return (
    <Row
      name={name}
      state={{ tone: isWaiting ? 'spot' : 'ok', text: isWaiting ? texts.waits : texts.allowed }}
      detail={`${ip}, ${ago(lastSeen)}`}
      acts={
        isWaiting
          ? [act('approve', () => send('approve')), act('deny', () => setAsking('deny'))]
          : [act('revoke', () => setAsking('revoke'))]
      }
      problem={asking ? undefined : decide.error?.message}
    >
      <Confirm
        open={asking !== undefined}
        onClose={() => setAsking(undefined)}
        title={asking === 'revoke' ? words.revokeTitle(name) : words.denyTitle(name)}
        losses={asking === 'revoke' ? words.revokeLoss : words.denyLoss}
        action={asking === 'revoke' ? words.revoke : words.deny}
        busy={decide.isPending}
        error={decide.error}
        onConfirm={() => asking && send(asking)}
      />
    </Row>
  );
}
