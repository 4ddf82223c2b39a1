import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { ago, exactMoney, moment } from '../../format.ts';
import { wallet as texts } from '../../texts/money.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, Card, Status } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form, Refused } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';

type Session = TypesOf<typeof web.paymentSessions.open>['reply']['session'];

const columnsOf = (setClosing: (session: Session) => void): Column<Session>[] => [
  {
    key: 'id',
    header: texts.started,
    cell: ({ createdAt, sandbox }) => (
      <span className="inline-flex flex-wrap items-center gap-2" title={moment(createdAt)}>
        {ago(createdAt)}
        {sandbox && <Badge tone="spot">{texts.sandbox}</Badge>}
      </span>
    ),
  },
  { key: 'status', header: texts.status, cell: ({ status }) => <Status value={status} /> },
  { key: 'spent', header: texts.spent, end: true, cell: ({ spent }) => exactMoney(spent) },
  { key: 'left', header: texts.remaining, end: true, cell: ({ remaining }) => exactMoney(remaining) },
  { key: 'vouchers', header: texts.vouchers, end: true, cell: ({ vouchers }) => vouchers.length },
  {
    key: 'close',
    header: '',
    end: true,
    cell: (session) =>
      session.status !== 'closed' && (
        <Button small onClick={() => setClosing(session)}>
          {texts.close}
        </Button>
      ),
  },
];

export function PaymentSessions({ address }: { address: string }) {
  const read = useCall(web.paymentSessions.list, { query: { address } }, { every: 10_000 });
  const sessions = read.data && 'sessions' in read.data ? read.data.sessions : undefined;
  const [deposit, setDeposit] = useState('10');
  const [closing, setClosing] = useState<Session>();
  const say = useSay();
  const refresh = [web.paymentSessions.list, web.ledger.get];
  const open = useSend(web.paymentSessions.open, {
    refresh,
    done: ({ note }) => say(note ? texts.existing : texts.opened),
  });
  const close = useSend(web.paymentSessions.close, {
    refresh,
    done: ({ returned }) => {
      say(texts.closed(exactMoney(returned)));
      setClosing(undefined);
    },
  });
  return (
    <Card title={texts.sessions} hint={texts.sessionsHint} flush className="overflow-hidden">
      <OpenForm
        onSubmit={() => open.mutate({ body: { address, deposit } })}
        deposit={deposit}
        setDeposit={setDeposit}
        open={open}
      />
      <Table
        label={texts.sessions}
        rows={sessions}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.noSessions} />}
        columns={columnsOf(setClosing)}
      />
      <Confirm
        open={closing !== undefined}
        onClose={() => setClosing(undefined)}
        title={texts.closeTitle}
        losses={texts.closeLoss(exactMoney(closing?.remaining ?? 0))}
        action={texts.close}
        busy={close.isPending}
        error={close.error}
        onConfirm={() => closing && close.mutate({ query: { sessionId: closing.id } })}
      />
    </Card>
  );
}

function OpenForm({
  onSubmit,
  deposit,
  setDeposit,
  open,
}: {
  onSubmit: () => void;
  deposit: string;
  setDeposit: (value: string) => void;
  open: { isPending: boolean; error: Error | null };
}) {
  return (
    <Form error={open.error} fields={[]} onSubmit={onSubmit} className="flex flex-wrap items-end gap-3 px-5 pb-5">
      <div className="w-52">
        <TextField
          label={texts.deposit}
          inputMode="decimal"
          required
          value={deposit}
          onChange={({ target }) => setDeposit(target.value)}
        />
      </div>
      <Button kind="primary" type="submit" busy={open.isPending}>
        {texts.open}
      </Button>
      <div className="basis-full empty:hidden">
        <Refused error={open.error} />
      </div>
    </Form>
  );
}
