import { web, type AgentChannel, type ChannelReceipt } from '@troupe/contract';
import { useEffect, useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { channels as texts } from '../../../texts/channels.ts';
import { states } from '../../../texts/common.ts';
import { connections } from '../../../texts/connections.ts';
import { Button, Spinner } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { Qr } from '../../../ui/qr.tsx';
import { chatOf, linkTo } from './channel-form.ts';

interface Props {
  agentId: string;
  channel: AgentChannel;
  receipts: readonly ChannelReceipt[];
  onClose: () => void;
  onChange: () => void;
}

/** What a stranger sends starts no work, so nothing else tells of it. */
const LOOK_MS = 5000;

/** The newest that came in on this channel, and whether it came while somebody looks. */
function useArrived(agentId: string, kind: AgentChannel['kind'], before: readonly ChannelReceipt[]) {
  const [known] = useState(() => new Set(before.map(({ id }) => id)));
  const read = useCall(web.channels.list, { params: { id: agentId } }, { every: LOOK_MS });
  const last = (read.data?.receipts ?? before).find(({ channel }) => channel === kind);
  return { last, arrived: last && !known.has(last.id) ? last : undefined };
}

/** Signs in, waits for a first message, and says something to whoever is named. */
export function Test({ agentId, channel: { kind }, receipts, onClose, onChange }: Props) {
  const [given, setGiven] = useState<string>();
  const enter = useSend(web.channels.test, { refresh: [web.channels.list] });
  const test = useSend(web.channels.test, { refresh: [web.channels.list] });
  const { last, arrived } = useArrived(agentId, kind, receipts);
  const { mutate } = enter;
  // Whether it works at all is what everybody wants to know first.
  useEffect(() => mutate({ params: { id: agentId, kind }, body: {} }), [agentId, kind, mutate]);
  const to = given ?? (last ? chatOf(last) : '');
  const submit = () => {
    const body = to.trim() === '' ? {} : { to: to.trim() };
    test.mutate({ params: { id: agentId, kind }, body });
  };
  const outcome = test.data ?? enter.data;
  const sentTo = test.variables?.body?.to;
  return (
    <Dialog open onClose={onClose} title={texts.testTitle(texts.names[kind])} hint={texts.testHint}>
      <Form error={test.error ?? enter.error} fields={['to']} onSubmit={submit}>
        <div aria-live="polite" className="flex flex-col gap-4">
          {!outcome && enter.isPending && <Waits words={texts.entering} />}
          {outcome?.ok === true && (
            <>
              <Notice tone="ok">
                {texts.works(outcome.account ?? '')} {test.data && sentTo ? texts.sent(sentTo) : ''}
              </Notice>
              <Arrival kind={kind} account={outcome.account ?? ''} arrived={arrived} />
            </>
          )}
          {outcome?.ok === false && (
            <Notice tone="danger" title={texts.fails(outcome.error ?? '')}>
              <p>{texts.failsHint[kind]}</p>
              <div className="mt-2">
                <Button small onClick={onChange}>
                  {connections.correct}
                </Button>
              </div>
            </Notice>
          )}
        </div>
        <TextField
          label={texts.testTo}
          hint={given !== undefined ? texts.testToHint : last ? texts.testToLast : texts.testToComes}
          name="to"
          value={to}
          onChange={({ target }) => setGiven(target.value)}
        />
        <DialogEnd send={test} onClose={onClose} leave={states.close} action={texts.testNow} />
      </Form>
    </Dialog>
  );
}

const Waits = ({ words }: { words: string }) => (
  <p className="flex items-center gap-2 text-ink-soft">
    <Spinner /> {words}
  </p>
);

/** The way to write to it, until somebody has. */
function Arrival({
  kind,
  account,
  arrived,
}: {
  kind: AgentChannel['kind'];
  account: string;
  arrived: ChannelReceipt | undefined;
}) {
  if (arrived) {
    const tone = arrived.state === 'failed' ? 'danger' : arrived.state === 'ignored' ? 'spot' : 'ok';
    return (
      <Notice tone={tone} title={texts.arrived[arrived.state]}>
        {arrived.state === 'ignored' ? texts.arrivedIgnored(arrived.sender) : arrived.note}
      </Notice>
    );
  }
  const link = linkTo(kind, account);
  return (
    <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
      {link && (
        <div className="max-sm:hidden">
          <Qr text={link} label={texts.qr(account)} />
        </div>
      )}
      <div className="flex min-w-0 flex-1 basis-48 flex-col items-start gap-3">
        <p>{texts.writeNow(account)}</p>
        {link && (
          <a className="link" href={link} target="_blank" rel="noreferrer">
            {texts.openThere}
          </a>
        )}
        <Waits words={texts.waitsForIt} />
      </div>
    </div>
  );
}
