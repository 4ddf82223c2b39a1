import {
  decideAgentPayment,
  getLedger,
  getPaymentPolicy,
  listAgentPayments,
  listAgents,
  putPaymentPolicy,
} from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { useCall, useSend } from '../../api.ts';
import { address, exactMoney, moment } from '../../format.ts';
import { states } from '../../texts/common.ts';
import { policy as texts } from '../../texts/policy.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Notice, Status } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';

type Payment = TypesOf<typeof listAgentPayments>['reply']['payments'][number];
type Decision = TypesOf<typeof decideAgentPayment>['body']['decision'];
type Policy = TypesOf<typeof getPaymentPolicy>['reply'];
/** What the owner can say, by the state of a payment. */
const CHOICES: Partial<Record<Payment['status'], Decision[]>> = {
  approval: ['approve', 'deny'],
  unknown: ['paid', 'failed'],
};
const LIMITS = ['perPayment', 'perDay', 'perPayee', 'approvalAbove'] as const;

export default function PaymentPolicy() {
  const read = useCall(listAgents, {});
  const [chosen, setChosen] = useState('');
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Loaded from={read}>
        {({ agents }) => {
          const id = chosen || agents[0]?.id;
          if (!id) return <Notice tone="spot">{texts.noAgents}</Notice>;
          return (
            <>
              <div className="max-w-xs">
                <SelectField
                  label={texts.agent}
                  value={id}
                  onChange={({ target }) => setChosen(target.value)}
                  choices={agents.map((agent) => ({ value: agent.id, label: agent.name }))}
                />
              </div>
              <Limits key={id} id={id} />
              <Payments key={`payments of ${id}`} id={id} />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Limits({ id }: { id: string }) {
  const read = useCall(getPaymentPolicy, { params: { id } });
  return (
    <Card title={texts.limits} hint={texts.limitsHint}>
      <Loaded from={read}>{(policy) => <LimitForm id={id} policy={policy} />}</Loaded>
    </Card>
  );
}

function LimitForm({ id, policy }: { id: string; policy: Policy }) {
  const [form, setForm] = useState(policy);
  const say = useSay();
  const save = useSend(putPaymentPolicy, { refresh: [getPaymentPolicy], done: () => say(texts.saved) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ params: { id }, body: form });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        {LIMITS.map((key) => (
          <TextField
            key={key}
            label={texts[key]}
            inputMode="decimal"
            value={form[key] ?? ''}
            onChange={({ target }) => setForm({ ...form, [key]: target.value.trim() || null })}
          />
        ))}
      </div>
      <TextArea
        label={texts.payees}
        hint={texts.payeesHint}
        mono
        defaultValue={form.payees?.join('\n') ?? ''}
        onChange={({ target }) => {
          const payees = target.value.split(/\s+/).filter(Boolean);
          setForm({ ...form, payees: payees.length > 0 ? payees : null });
        }}
      />
      {save.error && <Notice tone="danger">{save.error.message}</Notice>}
      <div>
        <Button kind="primary" type="submit" busy={save.isPending}>
          {states.save}
        </Button>
      </div>
    </form>
  );
}

function Payments({ id }: { id: string }) {
  const read = useCall(listAgentPayments, { params: { id } }, { every: 5000 });
  const say = useSay();
  const [asking, setAsking] = useState<{ payment: Payment; decision: Decision }>();
  const decide = useSend(decideAgentPayment, {
    refresh: [listAgentPayments, getLedger],
    done: () => {
      setAsking(undefined);
      say(texts.decided);
    },
  });
  const ask = (payment: Payment, decision: Decision) => {
    decide.reset();
    setAsking({ payment, decision });
  };
  return (
    <Card title={texts.payments} flush className="overflow-hidden">
      <Table
        label={texts.payments}
        rows={read.data?.payments}
        rowKey={(payment) => payment.id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.noPayments} />}
        columns={[
          { key: 'when', header: texts.when, cell: ({ createdAt }) => moment(createdAt) },
          { key: 'to', header: texts.to, cell: ({ recipient }) => <code title={recipient}>{address(recipient)}</code> },
          { key: 'amount', header: texts.amount, end: true, cell: ({ amount }) => exactMoney(amount) },
          { key: 'status', header: texts.status, cell: ({ status }) => <Status value={status} /> },
          {
            key: 'decide',
            header: '',
            end: true,
            cell: (payment) => (
              <span className="inline-flex gap-2">
                {(CHOICES[payment.status] ?? []).map((decision, index) => (
                  <Button
                    key={decision}
                    small
                    kind={index === 0 ? 'primary' : 'plain'}
                    onClick={() => ask(payment, decision)}
                  >
                    {texts[decision]}
                  </Button>
                ))}
              </span>
            ),
          },
        ]}
      />
      {asking && (
        <Decide
          {...asking}
          busy={decide.isPending}
          error={decide.error}
          onClose={() => setAsking(undefined)}
          onConfirm={() =>
            decide.mutate({ params: { id, paymentId: asking.payment.id }, body: { decision: asking.decision } })
          }
        />
      )}
    </Card>
  );
}

function Decide({
  payment: { amount, recipient },
  decision,
  ...rest
}: {
  payment: Payment;
  decision: Decision;
  busy: boolean;
  error: Error | null;
  onClose: () => void;
  onConfirm: () => void;
}) {
  const sum = exactMoney(amount);
  return (
    <Confirm
      open
      title={texts[`${decision}Title`](sum)}
      losses={<p className="break-words">{texts[`${decision}Loss`](recipient, sum)}</p>}
      action={texts[decision]}
      harmless={decision === 'deny' || decision === 'paid'}
      {...rest}
    />
  );
}
