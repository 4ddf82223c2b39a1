import { web, type AgentChannel, type ChannelReceipt } from '@troupe/contract';
import { useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { moment } from '../../../format.ts';
import { channels as texts } from '../../../texts/channels.ts';
import { connections } from '../../../texts/connections.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Refused } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { Kind, Row, Rows } from '../connections/parts.tsx';
import type { Act } from '../connections/parts.tsx';
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
      <Kind title={texts.title} hint={texts.hint} read={read}>
        <Rows label={texts.title}>
          {read.data?.channels.map((channel) => (
            <One key={channel.kind} agentId={agentId} channel={channel} receipts={read.data.receipts} />
          ))}
        </Rows>
      </Kind>
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
  const [open, setOpen] = useState<'set' | 'test' | 'remove' | undefined>(
    !isSet && connect === kind ? 'set' : undefined,
  );
  const say = useSay();
  const name = texts.names[kind];
  const close = () => setOpen(undefined);
  const remove = useSend(web.channels.remove, {
    refresh: [web.channels.list],
    done: () => {
      say(texts.removed);
      close();
    },
  });
  const act = (label: string, what: 'set' | 'test' | 'remove'): Act => ({
    label,
    named: connections.named(label, name),
    onClick: () => setOpen(what),
    isDanger: what === 'remove',
  });
  return (
    <Row
      name={name}
      state={{ tone: isSet ? TONE[state] : 'neutral', text: isSet ? texts.states[state] : texts.notSet }}
      detail={channel.settings['address']}
      acts={
        isSet
          ? [act(connections.test, 'test'), act(connections.change, 'set'), act(connections.remove, 'remove')]
          : [act(texts.setUp, 'set')]
      }
      problem={error ? { text: texts.why(error), acts: [act(connections.correct, 'set')] } : undefined}
    >
      <Suspense>
        {open === 'set' && (
          <SetUp agentId={agentId} channel={channel} onClose={close} onSaved={() => setOpen('test')} />
        )}
        {open === 'test' && (
          <Test {...{ agentId, channel, receipts }} onClose={close} onChange={() => setOpen('set')} />
        )}
      </Suspense>
      <Confirm
        open={open === 'remove'}
        onClose={close}
        title={connections.removeTitle(name)}
        losses={texts.removeLoss}
        action={connections.remove}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ params: { id: agentId, kind } })}
      />
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
