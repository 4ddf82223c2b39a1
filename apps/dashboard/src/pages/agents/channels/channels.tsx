import { web, type AgentChannel, type ChannelReceipt } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { channels as texts } from '../../../texts/channels.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card, Notice } from '../../../ui/card.tsx';
import { Confirm, Dialog } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Failure, Lines } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { withSender } from './channel-form.ts';
import { SetUp } from './set-up.tsx';

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
      <Card title={texts.title} hint={texts.hint}>
        {read.error && <Failure error={read.error} retry={() => void read.refetch()} />}
        {!read.data && !read.error && <Lines rows={5} />}
        <ul className="flex flex-col gap-3">
          {read.data?.channels.map((channel) => (
            <Row key={channel.kind} agentId={agentId} channel={channel} />
          ))}
        </ul>
      </Card>
      {read.data && <Receipts agentId={agentId} {...read.data} />}
    </>
  );
}

function Row({ agentId, channel }: { agentId: string; channel: AgentChannel }) {
  const [open, setOpen] = useState<'set' | 'test' | 'remove'>();
  const say = useSay();
  const { kind, isSet, state, error } = channel;
  const name = texts.names[kind];
  const close = () => setOpen(undefined);
  const remove = useSend(web.channels.remove, {
    refresh: [web.channels.list],
    done: () => {
      say(texts.removed);
      close();
    },
  });
  return (
    <li className="flex flex-col gap-2 rounded-xl border border-line px-4 py-3">
      <div className="flex flex-wrap items-center gap-3">
        <span className="font-medium">{name}</span>
        <Badge tone={isSet ? TONE[state] : 'neutral'}>{isSet ? texts.states[state] : texts.notSet}</Badge>
        <span className="min-w-0 flex-1 break-all text-[0.87rem] text-ink-soft">{channel.settings['address']}</span>
        <span className="flex flex-wrap gap-2">
          <Button small onClick={() => setOpen('set')}>
            {isSet ? texts.change : texts.setUp}
          </Button>
          {isSet && (
            <Button small onClick={() => setOpen('test')}>
              {texts.test}
            </Button>
          )}
          {isSet && (
            <Button small kind="danger" onClick={() => setOpen('remove')}>
              {texts.remove}
            </Button>
          )}
        </span>
      </div>
      {error && <p className="text-danger">{texts.why(error)}</p>}
      {open === 'set' && <SetUp agentId={agentId} channel={channel} onClose={close} />}
      {open === 'test' && <Test agentId={agentId} channel={channel} onClose={close} />}
      <Confirm
        open={open === 'remove'}
        onClose={close}
        title={texts.removeTitle(name)}
        losses={texts.removeLoss}
        action={texts.remove}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ params: { id: agentId, kind } })}
      />
    </li>
  );
}

function Test({
  agentId,
  channel: { kind },
  onClose,
}: {
  agentId: string;
  channel: AgentChannel;
  onClose: () => void;
}) {
  const [to, setTo] = useState('');
  const test = useSend(web.channels.test, { refresh: [web.channels.list] });
  const submit = () => {
    const body = to.trim() === '' ? {} : { to: to.trim() };
    test.mutate({ params: { id: agentId, kind }, body });
  };
  return (
    <Dialog open onClose={onClose} title={texts.testTitle(texts.names[kind])}>
      <Form error={test.error} fields={['to']} onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label={texts.testTo}
          hint={texts.testToHint}
          name="to"
          value={to}
          onChange={({ target }) => setTo(target.value)}
        />
        {test.data?.ok === true && <Notice tone="ok">{texts.works(test.data.account ?? '')}</Notice>}
        {test.data?.ok === false && <Notice tone="danger">{texts.fails(test.data.error ?? '')}</Notice>}
        <Refused error={test.error} />
        <div>
          <Button kind="primary" type="submit" busy={test.isPending}>
            {texts.testNow}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

interface Lately {
  agentId: string;
  channels: AgentChannel[];
  receipts: ChannelReceipt[];
}

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
                {[receipt.channel, receipt.note].filter(Boolean).join(' · ')}
              </span>
              <time className="text-[0.87rem] text-ink-soft" dateTime={receipt.receivedAt}>
                {new Date(receipt.receivedAt).toLocaleString()}
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
