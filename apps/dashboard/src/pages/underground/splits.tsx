import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../api.ts';
import { address as shortAddress, exactMoney, moment, percent } from '../../format.ts';
import { newId } from '../../ids.ts';
import { underground as texts } from '../../texts/underground.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { Dialog, DialogEnd } from '../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useAgentNames } from '../agents/agents/names.ts';
import { readRecipients } from './recipients.ts';

export function Splits() {
  const { nameOf } = useAgentNames();
  const read = useCall(web.splits.list, { query: { limit: '200' } });
  const [creating, setCreating] = useState(false);
  return (
    <Card
      title={texts.splits}
      flush
      className="overflow-hidden"
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          {texts.newSplit}
        </Button>
      }
    >
      <Table
        label={texts.splits}
        rows={read.data?.splits}
        rowKey={({ splitId }) => splitId}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.noSplits} />}
        columns={[
          { key: 'name', header: texts.splitName, cell: ({ name }) => <span className="font-medium">{name}</span> },
          { key: 'agent', header: texts.agent, free: true, cell: ({ agentId }) => nameOf(agentId) },
          { key: 'total', header: texts.amount, end: true, cell: ({ totalAmount }) => exactMoney(totalAmount) },
          {
            key: 'recipients',
            header: texts.recipients,
            cell: ({ recipients }) => (
              <span className="text-[0.87rem]">
                {recipients.map(({ address, share, amount }) => (
                  <span key={address} className="block" title={address}>
                    <code>{shortAddress(address)}</code> {percent(share)} · {exactMoney(amount)}
                  </span>
                ))}
              </span>
            ),
          },
          { key: 'payout', header: texts.status, cell: ({ payout }) => texts.payout[payout] },
          { key: 'when', header: texts.when, cell: ({ createdAt }) => moment(createdAt) },
        ]}
      />
      {creating && <SplitForm onClose={() => setCreating(false)} />}
    </Card>
  );
}

function useSplit(onClose: () => void) {
  const say = useSay();
  // A repeat of the same form must not pay twice.
  const [once] = useState(newId);
  const send = useSend(web.splits.create, {
    refresh: [web.splits.list, web.wallets.list],
    done: () => {
      say(texts.splitDone);
      onClose();
    },
  });
  const split = (body: TypesOf<typeof web.splits.create>['sent']['body']) =>
    send.mutate({ headers: { 'idempotency-key': once }, body });
  return { send, split };
}

function SplitForm({ onClose }: { onClose: () => void }) {
  const { choices } = useAgentNames();
  const [agentId, setAgentId] = useState('');
  const [name, setName] = useState('');
  const [total, setTotal] = useState('');
  const [recipients, setRecipients] = useState('');
  const { send, split } = useSplit(onClose);
  const submit = () =>
    split({
      agentId: agentId || choices[0]!.value,
      name,
      totalAmount: total,
      recipients: readRecipients(recipients),
    });
  return (
    <Dialog open onClose={onClose} title={texts.newSplit} hint={texts.splitLoss}>
      {choices.length === 0 ? (
        <Notice tone="spot">{texts.needAgent}</Notice>
      ) : (
        <Form error={send.error} fields={['name', 'totalAmount', 'recipients']} onSubmit={submit}>
          <TextField
            label={texts.splitName}
            name="name"
            required
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          <SelectField
            label={texts.agent}
            value={agentId}
            onChange={({ target }) => setAgentId(target.value)}
            choices={choices}
          />
          <TextField
            label={texts.total}
            name="totalAmount"
            inputMode="decimal"
            required
            value={total}
            onChange={({ target }) => setTotal(target.value)}
          />
          <TextArea
            label={texts.recipients}
            name="recipients"
            hint={texts.recipientsHint}
            placeholder={texts.recipientsPlaceholder}
            mono
            required
            value={recipients}
            onChange={({ target }) => setRecipients(target.value)}
          />
          <DialogEnd send={send} onClose={onClose} action={texts.split} />
        </Form>
      )}
    </Dialog>
  );
}
