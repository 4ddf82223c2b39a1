import { web } from '@troupe/contract';
import type { WebAgent } from '@troupe/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, useCall, useSend } from '../../api.ts';
import { exactMoney, percent } from '../../format.ts';
import { gateway as texts } from '../../texts/money.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Facts, Notice, Status } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Form, Refused } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';

interface Offer {
  slug: string;
  description: string;
  price: string;
}
interface Pricing {
  tier: string;
  pricing: { rate: string | number; discount: string | number };
  fitness: { score: number; tier: string };
}

/** Reads of the gateway are actions of one endpoint. */
const useAction = <T,>(body: { action: string; agentId?: string }) =>
  useQuery({
    queryKey: [web.paygate.post.path, web.paygate.post.method, body],
    queryFn: async () => (await call(web.paygate.post, { body })) as unknown as T,
  });

export default function Gateway() {
  const state = useCall(web.paygate.get, {});
  const offers = useAction<{ endpoints: Offer[] }>({ action: 'endpoints' });
  const agents = useCall(web.agents.list, {});
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <Loaded from={state} rows={1}>
          {({ gateway, status }) => (
            <span className="flex items-center gap-2 text-ink-soft">
              {texts.gateways[gateway] ?? gateway} <Status value={status} />
            </span>
          )}
        </Loaded>
      }
    >
      <Loaded from={agents}>{(read) => <OwnAgents agents={read.agents} />}</Loaded>
      <Card title={texts.endpoints} flush className="overflow-hidden">
        <Table
          label={texts.endpoints}
          rows={offers.data?.endpoints}
          rowKey={({ slug }) => slug}
          error={offers.error}
          retry={() => void offers.refetch()}
          empty={<Empty title={texts.noEndpoints} />}
          columns={[
            { key: 'slug', header: texts.slug, cell: ({ slug }) => <code>{slug}</code> },
            { key: 'what', header: texts.description, cell: ({ description }) => description },
            { key: 'price', header: texts.price, end: true, cell: ({ price }) => texts.perCall(exactMoney(price)) },
          ]}
        />
      </Card>
    </Page>
  );
}

function OwnAgents({ agents }: { agents: WebAgent[] }) {
  const [chosen, setChosen] = useState('');
  const agentId = chosen || agents[0]?.id;
  if (!agentId) return <Notice tone="spot">{texts.noAgents}</Notice>;
  return (
    <>
      <div className="max-w-xs">
        <SelectField
          label={texts.agent}
          value={agentId}
          onChange={({ target }) => setChosen(target.value)}
          choices={agents.map(({ id, name }) => ({ value: id, label: name }))}
        />
      </div>
      <div key={agentId} className="grid grid-cols-1 items-start gap-5 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-5">
          <Fitness agentId={agentId} />
          <Join agentId={agentId} />
        </div>
        <Pay agentId={agentId} />
      </div>
    </>
  );
}

function Fitness({ agentId }: { agentId: string }) {
  const read = useAction<Pricing>({ action: 'pricing', agentId });
  return (
    <Card title={texts.fitness} hint={texts.fitnessHint}>
      <Loaded from={read}>
        {({ tier, pricing, fitness }) => (
          <Facts
            items={[
              [texts.fitness, `${fitness.score} / 100`],
              [texts.tier, texts.tiers[tier] ?? tier],
              [texts.rate, texts.perCall(exactMoney(pricing.rate))],
              [texts.discount, percent(Number(pricing.discount))],
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

function Join({ agentId }: { agentId: string }) {
  const [walletAddress, setWalletAddress] = useState('');
  const say = useSay();
  const join = useSend(web.paygate.post, { refresh: [web.paygate.post], done: () => say(texts.joined) });
  return (
    <Card title={texts.join} hint={texts.joinHint}>
      <Form
        error={join.error}
        fields={['walletAddress']}
        onSubmit={() => join.mutate({ body: { action: 'join-colony', agentId, walletAddress } })}
      >
        <TextField
          label={texts.walletAddress}
          name="walletAddress"
          hint={texts.recipientHint}
          mono
          required
          value={walletAddress}
          onChange={({ target }) => setWalletAddress(target.value.trim())}
        />
        <Refused error={join.error} />
        <div>
          <Button type="submit" busy={join.isPending}>
            {texts.join}
          </Button>
        </div>
      </Form>
    </Card>
  );
}

function Pay({ agentId }: { agentId: string }) {
  const [amount, setAmount] = useState('');
  const [recipient, setRecipient] = useState('');
  const [asking, setAsking] = useState(false);
  const say = useSay();
  const pay = useSend(web.paygate.post, {
    refresh: [web.paygate.post, web.policy.listPayments, web.ledger.get],
    done: ({ status }) => {
      setAsking(false);
      // Above the policy's limit nothing has moved yet.
      say(status === 'approval_required' ? texts.waits : texts.paid);
    },
  });
  const submit = () => {
    pay.reset();
    setAsking(true);
  };
  return (
    <Card title={texts.pay} hint={texts.payHint}>
      <Form error={null} fields={[]} onSubmit={submit}>
        <TextField
          label={texts.amount}
          type="number"
          step="any"
          required
          value={amount}
          onChange={({ target }) => setAmount(target.value)}
        />
        <TextField
          label={texts.recipient}
          hint={texts.recipientHint}
          mono
          required
          value={recipient}
          onChange={({ target }) => setRecipient(target.value.trim())}
        />
        <div>
          <Button type="submit">{texts.pay}</Button>
        </div>
      </Form>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={texts.payTitle(exactMoney(amount))}
        losses={<p className="break-all">{texts.payLoss(exactMoney(amount), recipient)}</p>}
        action={texts.pay}
        busy={pay.isPending}
        error={pay.error}
        onConfirm={() => pay.mutate({ body: { action: 'pay', agentId, amount: Number(amount), recipient } })}
      />
    </Card>
  );
}
