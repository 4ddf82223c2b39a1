import { web } from '@troupe/contract';
import type { UndergroundEvent } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { count, exactMoney, moment } from '../../../format.ts';
import { tickets as ticketTexts, underground as texts } from '../../../texts/underground.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { useAgentNames } from '../../agents/agents/names.ts';
import { TicketForm } from './tickets.tsx';
import { eventBody, NEW_EVENT } from './new-event.ts';

const columnsOf = (nameOf: (id: string) => string, setBuying: (id: string) => void): Column<UndergroundEvent>[] => [
  { key: 'name', header: texts.eventName, cell: ({ name }) => <span className="font-medium">{name}</span> },
  { key: 'number', header: texts.eventNumber, cell: ({ id }) => id },
  { key: 'agent', header: texts.agent, free: true, cell: (event) => nameOf(event.agent_id) },
  { key: 'venue', header: texts.venue, free: true, cell: ({ venue }) => venue },
  {
    key: 'date',
    header: texts.date,
    sort: (event) => event.event_date,
    cell: (event) => moment(event.event_date),
  },
  { key: 'price', header: texts.price, end: true, cell: (event) => exactMoney(event.ticket_price_usdc) },
  {
    key: 'sold',
    header: texts.tickets,
    end: true,
    cell: (event) => texts.sold(count(event.tickets_sold), count(event.total_tickets)),
  },
  {
    key: 'buy',
    header: '',
    end: true,
    cell: ({ id, name }) => (
      <Button small aria-label={ticketTexts.buyNamed(name)} onClick={() => setBuying(String(id))}>
        {ticketTexts.buy}
      </Button>
    ),
  },
];

export function Events() {
  const { nameOf } = useAgentNames();
  const read = useCall(web.events.list, {}, { every: 15_000 });
  const [creating, setCreating] = useState(false);
  const [buying, setBuying] = useState<string>();
  return (
    <Card
      title={texts.events}
      flush
      className="overflow-hidden"
      actions={
        <>
          <Button onClick={() => setBuying('')}>{ticketTexts.title}</Button>
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            {texts.newEvent}
          </Button>
        </>
      }
    >
      <Table
        label={texts.events}
        rows={read.data}
        rowKey={({ id }) => String(id)}
        error={read.error}
        retry={() => void read.refetch()}
        find={({ name, venue }) => `${name} ${venue}`}
        empty={<Empty title={texts.noEvents} />}
        columns={columnsOf(nameOf, setBuying)}
      />
      {creating && <EventForm onClose={() => setCreating(false)} />}
      {buying !== undefined && <TicketForm eventId={buying} onClose={() => setBuying(undefined)} />}
    </Card>
  );
}

function EventForm({ onClose }: { onClose: () => void }) {
  const { choices } = useAgentNames();
  const [form, setForm] = useState(NEW_EVENT);
  const say = useSay();
  const send = useSend(web.events.create, {
    refresh: [web.events.list],
    done: () => {
      say(texts.announced);
      onClose();
    },
  });
  const field = (key: keyof typeof form, name: string = key) => ({
    name,
    required: true,
    value: form[key],
    onChange: ({ target }: { target: { value: string } }) => setForm({ ...form, [key]: target.value }),
  });
  return (
    <Dialog open onClose={onClose} title={texts.newEvent}>
      {choices.length === 0 ? (
        <Notice tone="spot">{texts.needAgent}</Notice>
      ) : (
        <Form
          error={send.error}
          fields={['name', 'description', 'venue', 'eventDate', 'ticketPriceUsdc', 'totalTickets']}
          onSubmit={() => send.mutate({ body: eventBody(form, choices[0]!.value) })}
        >
          <TextField label={texts.eventName} {...field('name')} />
          <SelectField label={texts.agent} choices={choices} {...field('agentId')} required={false} />
          <TextArea label={texts.description} rows={3} {...field('description')} />
          <TextField label={texts.venue} {...field('venue')} />
          <TextField label={texts.date} type="datetime-local" {...field('date', 'eventDate')} />
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField label={texts.price} inputMode="decimal" {...field('price', 'ticketPriceUsdc')} />
            <TextField label={texts.tickets} type="number" {...field('tickets', 'totalTickets')} />
          </div>
          <DialogEnd send={send} onClose={onClose} action={texts.announce} />
        </Form>
      )}
    </Dialog>
  );
}
