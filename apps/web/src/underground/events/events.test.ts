import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOT_YOURS, startUnderground, UNAUTHORIZED, type Owner } from '../testing.ts';

let world: Awaited<ReturnType<typeof startUnderground>>;
let ann: Owner;
let ben: Owner;
before(async () => {
  world = await startUnderground();
  ann = await world.owner();
  ben = await world.owner();
});
after(() => world.stop());

const event = (agentId: string) => ({
  agentId,
  name: 'Night',
  description: 'All night',
  venue: 'Cellar',
  eventDate: '2027-01-31T20:00:00.000Z',
  ticketPriceUsdc: '0',
  totalTickets: 3,
});

test('an event is announced, read by others, and sold, once for each key', async () => {
  const made = await ann.at('POST', 'events', event(ann.agentId));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  assert.equal((await ann.at('GET', 'events?limit=5')).body.length, 1);
  assert.equal((await ben.at('GET', 'events')).body.length, 0);
  const path = `events/${made.body.id}`;
  const buy = () =>
    ben.at('POST', `${path}/tickets`, { agentId: ben.agentId, quantity: 2 }, { 'idempotency-key': 'k' });
  const [first, again] = [await buy(), await buy()];
  assert.deepEqual([first.status, again.body.ticketId], [201, first.body.ticketId]);
  const { name, tickets_sold: sold } = (await ben.at('GET', path)).body;
  assert.deepEqual([name, sold], ['Night', 2]);
});

test('refuses another’s agent, what is no event, and nobody', async () => {
  assert.deepEqual(await ben.at('POST', 'events', event(ann.agentId)), NOT_YOURS);
  assert.equal((await ann.at('POST', 'events', { ...event(ann.agentId), eventDate: 'tomorrow' })).status, 400);
  assert.deepEqual(await ann.at('GET', 'events/999999'), { status: 404, body: { error: 'Event not found' } });
  assert.deepEqual(await world.asStranger('GET', 'events'), UNAUTHORIZED);
});
