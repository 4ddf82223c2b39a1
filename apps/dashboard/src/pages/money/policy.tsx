import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { codeOf, useCall, useSend } from '../../api.ts';
import { refusedFields, stillRefused } from '../../checks.ts';
import { address, exactMoney, moment } from '../../format.ts';
import { states } from '../../texts/common.ts';
import { policy as texts } from '../../texts/policy.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Notice, Status } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { Form, Refused } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useAgentNames } from '../agents/agents/names.ts';
import { LIMITS, policyWords } from './policy-words.ts';

type Payment = TypesOf<typeof web.policy.listPayments>['reply']['payments'][number];
type Decision = TypesOf<typeof web.policy.decidePayment>['body']['decision'];
type Policy = TypesOf<typeof web.policy.get>['reply'];
/** What the owner can say, by the state of a payment. */
const CHOICES: Partial<Record<Payment['status'], Decision[]>> = {
  approval: ['approve', 'deny'],
  unknown: ['paid', 'failed'],
};

export default function PaymentPolicy() {
  const read = useCall(web.agents.list, {});
  // In the address, so that a notice leads to the agent that asks.
  const { agent: chosen } = useSearch({ strict: false });
  const navigate = useNavigate();
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Loaded from={read}>
        {({ agents }) => {
          const id = (agents.find((agent) => agent.id === chosen) ?? agents[0])?.id;
          if (!id) return <Notice tone="spot">{texts.noAgents}</Notice>;
          return (
            <>
              <div className="max-w-xs">
                <SelectField
                  label={texts.agent}
                  value={id}
                  onChange={({ target }) =>
                    void navigate({ to: '.', search: { agent: target.value } as never, replace: true })
                  }
                  choices={agents.map((agent) => ({ value: agent.id, label: agent.name }))}
                />
              </div>
              <AgentPolicy key={id} id={id} />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

/** What waits for the owner comes first: a notice leads here for it. */
function AgentPolicy({ id }: { id: string }) {
  const { data } = useCall(web.policy.listPayments, { params: { id } });
  const waits = data?.payments.some(({ status }) => CHOICES[status]);
  // By key, so that a form that is being filled in stays when they change places.
  const parts = [<Limits key="limits" id={id} />, <Payments key="payments" id={id} />];
  return waits ? parts.toReversed() : parts;
}

function Limits({ id }: { id: string }) {
  const read = useCall(web.policy.get, { params: { id } });
  return (
    <Card title={texts.limits} hint={texts.limitsHint}>
      <Loaded from={read}>{(policy) => <LimitForm id={id} policy={policy} />}</Loaded>
    </Card>
  );
}

function LimitForm({ id, policy }: { id: string; policy: Policy }) {
  const [form, setForm] = useState(policy);
  const say = useSay();
  const save = useSend(web.policy.put, { refresh: [web.policy.get], done: () => say(texts.saved) });
  const error = stillRefused(save.error, web.policy.put, { params: { id }, body: form });
  const wrong = policyWords(refusedFields(error), form.payees ?? []);
  return (
    <Form error={error} fields={[...LIMITS, 'payees']} onSubmit={() => save.mutate({ params: { id }, body: form })}>
      <div className="grid gap-4 sm:grid-cols-2">
        {LIMITS.map((key) => (
          <TextField
            key={key}
            label={texts[key]}
            inputMode="decimal"
            error={wrong[key]}
            value={form[key] ?? ''}
            onChange={({ target }) => setForm({ ...form, [key]: target.value.trim() || null })}
          />
        ))}
      </div>
      <TextArea
        label={texts.payees}
        hint={texts.payeesHint}
        error={wrong.payees}
        mono
        defaultValue={form.payees?.join('\n') ?? ''}
        onChange={({ target }) => {
          const payees = target.value.split(/\s+/).filter(Boolean);
          setForm({ ...form, payees: payees.length > 0 ? payees : null });
        }}
      />
      {codeOf(error) === 'BAD_PAYEES' ? <Notice tone="danger">{texts.badPayees}</Notice> : <Refused error={error} />}
      <div>
        <Button kind="primary" type="submit" busy={save.isPending}>
          {states.save}
        </Button>
      </div>
    </Form>
  );
}

const paymentColumns = (ask: (payment: Payment, decision: Decision) => void): Column<Payment>[] => [
  { key: 'when', header: texts.when, cell: ({ createdAt }) => moment(createdAt) },
  { key: 'to', header: texts.to, cell: ({ recipient }) => <Payee recipient={recipient} /> },
  { key: 'amount', header: texts.amount, end: true, cell: ({ amount }) => exactMoney(amount) },
  {
    key: 'status',
    header: texts.status,
    cell: ({ status }) => <Status value={status} text={texts.statuses[status]} />,
  },
  {
    key: 'decide',
    header: '',
    end: true,
    cell: (payment) => (
      <span className="inline-flex gap-2">
        {(CHOICES[payment.status] ?? []).map((decision, index) => (
          <Button key={decision} small kind={index === 0 ? 'primary' : 'plain'} onClick={() => ask(payment, decision)}>
            {texts[decision]}
          </Button>
        ))}
      </span>
    ),
  },
];

function Payments({ id }: { id: string }) {
  const read = useCall(web.policy.listPayments, { params: { id } }, { every: 10_000 });
  const say = useSay();
  const [asking, setAsking] = useState<{ payment: Payment; decision: Decision }>();
  const decide = useSend(web.policy.decidePayment, {
    refresh: [web.policy.listPayments, web.notices.list, web.ledger.get],
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
        columns={paymentColumns(ask)}
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

/** An own agent by its name, anybody else by the address. */
function Payee({ recipient }: { recipient: string }) {
  const { nameOf } = useAgentNames();
  const wallets = useCall(web.wallets.list, {}).data?.wallets;
  const own = wallets?.find((wallet) => wallet.address.toLowerCase() === recipient.toLowerCase());
  return own ? (
    <span title={recipient}>{nameOf(own.agentId)}</span>
  ) : (
    <code title={recipient}>{address(recipient)}</code>
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
