import { numberOf } from '../../../checks.ts';

export const NEW_EVENT = {
  agentId: '',
  name: '',
  description: '',
  venue: '',
  date: '',
  price: '0',
  tickets: '100',
};

/** A day and an hour here, as a moment everywhere; what is none goes as it is, to be refused. */
function momentOf(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? local : time.toISOString();
}

/** What is sent. Who chose no agent means the first. */
export const eventBody = (form: typeof NEW_EVENT, firstAgent: string) => ({
  agentId: form.agentId || firstAgent,
  name: form.name,
  description: form.description,
  venue: form.venue,
  eventDate: momentOf(form.date),
  ticketPriceUsdc: form.price,
  totalTickets: numberOf(form.tickets),
});
