import { web } from '@troupe/contract';
import type { UndergroundEvent } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { numberOf } from '../../../checks.ts';
import { newId } from '../../../ids.ts';
import { exactMoney, moment } from '../../../format.ts';
import { tickets as texts } from '../../../texts/underground.ts';
import { Facts, Notice } from '../../../ui/card.tsx';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { useAgentNames } from '../../agents/agents/names.ts';

/** Tickets for one of one's agents, to anybody's event: who sells them says its number. */
export function TicketForm({ eventId, onClose }: { eventId: string; onClose: () => void }) {
  const { choices } = useAgentNames();
  const [id, setId] = useState(eventId);
  const [agentId, setAgentId] = useState('');
  const [quantity, setQuantity] = useState('1');
  // A second click on the same purchase pays once.
  const [key] = useState(newId);
  const say = useSay();
  const event = useCall(web.events.get, { params: { id } }, { enabled: /^\d+$/.test(id) });
  const buy = useSend(web.events.buyTickets, {
    refresh: [web.events.list, web.events.get, web.wallets.list],
    done: ({ quantity: bought, totalUsdc }) => {
      say(texts.bought(bought, exactMoney(totalUsdc)));
      onClose();
    },
  });
  const submit = () => {
    const body = { agentId: agentId || choices[0]!.value, quantity: numberOf(quantity) };
    buy.mutate({ params: { id }, body, headers: { 'idempotency-key': key } });
  };
  const total = event.data && exactMoney(Number(event.data.ticket_price_usdc) * Number(quantity || 0));
  return (
    <Dialog open onClose={onClose} title={texts.title} hint={texts.hint}>
      <Form error={buy.error} fields={['quantity']} onSubmit={submit}>
        <TextField
          label={texts.number}
          hint={texts.numberHint}
          inputMode="numeric"
          required
          value={id}
          onChange={({ target }) => setId(target.value.trim())}
        />
        {event.data && <About event={event.data} />}
        {event.error && <Notice tone="spot">{event.error.message}</Notice>}
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label={texts.agent}
            value={agentId || (choices[0]?.value ?? '')}
            onChange={({ target }) => setAgentId(target.value)}
            choices={choices}
          />
          <Quantity quantity={quantity} setQuantity={setQuantity} />
        </div>
        <DialogEnd
          send={buy}
          onClose={onClose}
          disabled={!event.data || choices.length === 0}
          action={total ? texts.payFor(total) : texts.buy}
        />
      </Form>
    </Dialog>
  );
}

function Quantity({ quantity, setQuantity }: { quantity: string; setQuantity: (value: string) => void }) {
  return (
    <TextField
      label={texts.quantity}
      name="quantity"
      type="number"
      required
      value={quantity}
      onChange={({ target }) => setQuantity(target.value)}
    />
  );
}

function About({ event }: { event: UndergroundEvent }) {
  return (
    <Facts
      items={[
        [texts.event, event.name],
        [texts.where, `${event.venue}, ${moment(event.event_date)}`],
        [texts.left, event.total_tickets - event.tickets_sold],
        [texts.price, exactMoney(event.ticket_price_usdc)],
      ]}
    />
  );
}
