import { web, type AgentChannel, type ChannelReceipt } from '@troupe/contract';
import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { moment } from '../../../format.ts';
import { channels as texts } from '../../../texts/channels.ts';
import { connections } from '../../../texts/connections.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card } from '../../../ui/card.tsx';
import { Refused } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Kind, Row } from '../connections/parts.tsx';
import { latelyOf } from './lately.ts';
import { withSender } from './channel-form.ts';

/** They come when they are opened. */
const SetUp = lazy(() => import('./set-up.tsx').then((page) => ({ default: page.SetUp })));
const Test = lazy(() => import('./test-dialog.tsx').then((page) => ({ default: page.Test })));

const TONE = {
  off: 'neutral',
  starting: 'info',
  listening: 'ok',
  failed: 'danger',
  refused: 'danger',
  elsewhere: 'info',
} as const;
const OUTCOME = { waiting: 'info', answered: 'ok', failed: 'danger', ignored: 'neutral' } as const;

/** Where people write to the agent, and what came in. */
export function Channels({ agentId }: { agentId: string }) {
  const read = useCall(web.channels.list, { params: { id: agentId } });
  return (
    <>
      <Kind
        title={texts.title}
        hint={texts.hint}
        read={read}
        rows={read.data?.channels.map((channel) => (
          <One key={channel.kind} agentId={agentId} channel={channel} receipts={read.data.receipts} />
        ))}
      />
      {read.data && <Receipts agentId={agentId} {...read.data} />}
    </>
  );
}

interface OneProps {
  agentId: string;
  channel: AgentChannel;
  receipts: readonly ChannelReceipt[];
}

function One({ agentId, channel, receipts }: OneProps) {
  const { kind, isSet, state, error } = channel;
  // Whoever comes for this one finds its form open.
  const { connect } = useSearch({ strict: false }) as { connect?: string };
  const [open, setOpen] = useState<'set' | 'test' | undefined>(!isSet && connect === kind ? 'set' : undefined);
  const say = useSay();
  const name = texts.names[kind];
  const close = () => setOpen(undefined);
  const remove = useAsk(web.channels.remove, () => ({ params: { id: agentId, kind } }), {
    refresh: [web.channels.list],
    done: () => say(texts.removed),
  });
  const set = () => setOpen('set');
  const ways = [
    { label: connections.test, onClick: () => setOpen('test') },
    { label: connections.change, onClick: set },
  ];
  return (
    <Row
      name={name}
      state={{ tone: isSet ? TONE[state] : 'neutral', text: isSet ? texts.states[state] : texts.notSet }}
      detail={[channel.settings['address'], latelyOf(channel, receipts)].filter(Boolean).join(' · ')}
      acts={isSet ? ways : [{ label: texts.setUp, onClick: set }]}
      remove={isSet ? { ...remove, losses: texts.removeLoss } : undefined}
      problem={error ? texts.why(error) : undefined}
      remedies={[{ label: connections.correct, onClick: set }]}
    >
      <Suspense>
        {open === 'set' && (
          <SetUp agentId={agentId} channel={channel} onClose={close} onSaved={() => setOpen('test')} />
        )}
        {open === 'test' && <Test {...{ agentId, channel, receipts }} onClose={close} onChange={set} />}
      </Suspense>
    </Row>
  );
}

interface Lately {
  agentId: string;
  channels: AgentChannel[];
  receipts: ChannelReceipt[];
}

const nameOf = (channel: string): string =>
  Object.hasOwn(texts.names, channel) ? texts.names[channel as AgentChannel['kind']] : channel;

function Receipts({ agentId, channels, receipts }: Lately) {
  const allow = useSend(web.channels.set, { refresh: [web.channels.list] });
  if (!channels.some(({ isSet }) => isSet)) return null;
  const stranger = ({ channel, state, sender }: ChannelReceipt) =>
    channels.find(
      ({ kind, isSet, allowed }) => isSet && kind === channel && state === 'ignored' && !allowed.includes(sender),
    );
  return (
    <Card title={texts.receipts} hint={texts.receiptsHint}>
      {receipts.length === 0 && <p className="text-ink-soft">{texts.noReceipts}</p>}
      <ul className="flex flex-col divide-y divide-line">
        {receipts.map((receipt) => {
          const channel = stranger(receipt);
          return (
            <li key={`${receipt.channel} ${receipt.id}`} className="flex flex-wrap items-center gap-3 py-2">
              <Badge tone={OUTCOME[receipt.state]}>{texts.outcomes[receipt.state]}</Badge>
              <span className="break-all">{receipt.sender}</span>
              <span className="min-w-0 flex-1 break-words text-[0.87rem] text-ink-soft">
                {[nameOf(receipt.channel), receipt.note].filter(Boolean).join(' · ')}
              </span>
              <time className="text-[0.87rem] text-ink-soft" dateTime={receipt.receivedAt}>
                {moment(receipt.receivedAt)}
              </time>
              {channel && (
                <Button
                  small
                  busy={allow.isPending}
                  onClick={() =>
                    allow.mutate({
                      params: { id: agentId, kind: channel.kind },
                      body: withSender(channel, receipt.sender),
                    })
                  }
                >
                  {texts.allow}
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      <Refused error={allow.error} />
    </Card>
  );
}
