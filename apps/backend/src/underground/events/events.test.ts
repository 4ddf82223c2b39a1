import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { formatAmount } from '@troupe/domain';
import fc from 'fast-check';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createHolders, type Holder } from '../money-testing.ts';
import { startUnderground, type Person } from '../testing.ts';

const world = await startUnderground();
const { party, intact } = createHolders(world);
after(() => world.stop());

const EVENTS = '/api/underground/events';
const SPLITS = '/api/underground/splits';
const newAddress = () => privateKeyToAccount(generatePrivateKey()).address;

const event = (agentId: string, given: object = {}) => ({
  agentId,
  name: 'Night',
  description: 'All night',
  venue: 'Cellar',
  eventDate: '2027-01-31T20:00:00Z',
  ticketPriceUsdc: '12.5',
  totalTickets: 10,
  ...given,
});

async function newEvent(owner: { person: Person; agentId: string }, given: object = {}) {
  const { status, body } = await world.ask('POST', EVENTS, owner.person, event(owner.agentId, given));
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

const buy = (buyer: { person: Person; agentId: string }, id: number, quantity: unknown, headers = {}) =>
  world.ask('POST', `${EVENTS}/${id}/tickets`, buyer.person, { agentId: buyer.agentId, quantity }, headers);

describe('events', () => {
  test('are announced and listed, the latest date first, to their owner', async () => {
    const owner = await party();
    for (const eventDate of ['2027-02-01', '2027-04-01T10:00:00+02:00', '2027-03-01'])
      await newEvent(owner, { eventDate, name: eventDate });
    const { body } = await world.ask('GET', EVENTS, owner.person);
    assert.deepEqual(
      body.map((found: { event_date: string }) => found.event_date),
      ['2027-04-01T08:00:00.000Z', '2027-03-01T00:00:00.000Z', '2027-02-01T00:00:00.000Z'],
    );
    const { id, ...rest } = body[2];
    assert.equal(typeof id, 'number');
    assert.deepEqual(rest, {
      agent_id: owner.agentId,
      name: '2027-02-01',
      description: 'All night',
      venue: 'Cellar',
      event_date: '2027-02-01T00:00:00.000Z',
      ticket_price_usdc: '12.5',
      total_tickets: 10,
      tickets_sold: 0,
    });
    assert.deepEqual((await world.ask('GET', EVENTS, (await party()).person)).body, []);
  });

  test('400 for what is no event', async () => {
    const owner = await party();
    const bad: object[] = [
      { name: 'x'.repeat(201) },
      { name: '' },
      { description: undefined },
      { venue: 7 },
      { eventDate: 'tomorrow' },
      { eventDate: '2027-02-30' },
      ...['-1', '1,5', 'NaN', '1e3', ' 1', '0.0000001', 5, ''].map((ticketPriceUsdc) => ({ ticketPriceUsdc })),
      ...[0, -1, 1.5, '10', 1e21].map((totalTickets) => ({ totalTickets })),
    ];
    for (const given of bad) {
      const { status } = await world.ask('POST', EVENTS, owner.person, event(owner.agentId, given));
      assert.equal(status, 400, JSON.stringify(given));
    }
    assert.deepEqual(await world.ask('POST', EVENTS, owner.person, event('', {})), {
      status: 400,
      body: { error: 'agentId required' },
    });
  });
});

describe('tickets', () => {
  test('are paid through the ledger', async () => {
    const [owner, buyer] = [await party(), await party(100_000_000n)];
    const { id } = await newEvent(owner);
    const { status, body } = await buy(buyer, id, 3);
    assert.deepEqual([status, body.success, body.quantity, body.totalUsdc, body.eventId], [201, true, 3, '37.50', id]);
    assert.deepEqual([await buyer.balance(), await owner.balance()], [62_500_000n, 37_500_000n]);
    assert.deepEqual(await buy(buyer, id, 6), { status: 402, body: { error: 'Insufficient balance' } });
    assert.deepEqual(await buy(buyer, id, 8), {
      status: 409,
      body: { error: 'Not enough tickets left', available: 7 },
    });
    assert.equal((await world.ask('GET', `${EVENTS}/${id}`, buyer.person)).body.tickets_sold, 3);
    await intact();
  });

  test('of one’s own event, and of a free one, move nothing', async () => {
    const owner = await party(50_000_000n);
    assert.equal((await buy(owner, (await newEvent(owner)).id, 2)).status, 201);
    assert.equal(await owner.balance(), 50_000_000n);
    const free = await newEvent(owner, { ticketPriceUsdc: '0' });
    assert.equal((await buy(await party(), free.id, 2)).status, 201);
    await intact();
  });

  test('the same key buys once, at once too; for something else it is refused', async () => {
    const [owner, buyer] = [await party(), await party(100_000_000n)];
    const { id } = await newEvent(owner);
    const key = { 'idempotency-key': 'order-1' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => buy(buyer, id, 1, key)));
    assert.deepEqual(new Set(answers.map(({ body }) => body.ticketId)).size, 1);
    assert.equal(await buyer.balance(), 87_500_000n);
    assert.equal((await buy(buyer, id, 2, key)).status, 409);
    assert.equal((await buy(buyer, (await newEvent(owner)).id, 1, key)).status, 409);
    await intact();
  });

  test('404, 403, 400', async () => {
    const [owner, buyer] = [await party(), await party()];
    const { id } = await newEvent(owner);
    assert.deepEqual(await buy(buyer, 999_999, 1), { status: 404, body: { error: 'Event not found' } });
    assert.equal((await buy({ ...buyer, agentId: owner.agentId }, id, 1)).status, 403);
    for (const quantity of [0, -1, 1.5, '1', null, 1001])
      assert.equal((await buy(buyer, id, quantity)).status, 400, String(quantity));
  });

  test('random buyers at once: never oversold, everybody pays for what they got', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 5_000_000 }),
        fc.array(fc.record({ quantity: fc.integer({ min: 1, max: 5 }), who: fc.nat(2) }), {
          minLength: 2,
          maxLength: 15,
        }),
        async (total, price, orders) => {
          const owner = await party();
          const buyers = [await party(10_000_000n), await party(10_000_000n), await party(0n)];
          const priceText = formatAmount(BigInt(price), 6);
          const { id } = await newEvent(owner, { totalTickets: total, ticketPriceUsdc: priceText });
          const answers = await Promise.all(orders.map(({ quantity, who }) => buy(buyers[who]!, id, quantity)));
          const got = (index: number) =>
            orders.reduce(
              (sum, { quantity, who }, n) => (answers[n]!.status === 201 && who === index ? sum + quantity : sum),
              0,
            );
          const sold = got(0) + got(1) + got(2);
          assert.ok(sold <= total);
          assert.equal((await world.ask('GET', `${EVENTS}/${id}`, owner.person)).body.tickets_sold, sold);
          for (const index of [0, 1])
            assert.equal(await buyers[index]!.balance(), 10_000_000n - BigInt(got(index)) * BigInt(price));
          assert.equal(got(2), 0);
          assert.equal(await owner.balance(), BigInt(sold) * BigInt(price));
          for (const { status } of answers) assert.ok([201, 402, 409].includes(status));
        },
      ),
      { numRuns: 12 },
    );
    await intact();
  });
});

describe('the owner’s limits on an agent', () => {
  async function limited(limits: object) {
    const buyer = await party(100_000_000n);
    await world.runtime.db.system
      .insertInto('payment_policies')
      .values({ agent_id: buyer.agentId, user_id: buyer.person.id, updated_at: new Date(), ...limits })
      .execute();
    return buyer;
  }
  const split = (owner: Holder, address: string, totalAmount: string) =>
    world.ask('POST', SPLITS, owner.person, {
      agentId: owner.agentId,
      name: 'Royalties',
      totalAmount,
      recipients: [{ address, share: 100 }],
    });
  const TOO_MUCH = { status: 403, body: { error: 'Payment exceeds the limit of the agent' } };

  test('hold for tickets and splits together, at once too', async () => {
    const owner = await party();
    const { id } = await newEvent(owner, { ticketPriceUsdc: '10' });
    const buyer = await limited({ per_day: 50_000_000n });
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, () => buy(buyer, id, 1)),
      split(buyer, newAddress(), '20'),
      split(buyer, newAddress(), '20'),
    ]);
    const spent = answers.reduce((sum, { status }, n) => (status < 300 ? sum + (n < 6 ? 10 : 20) : sum), 0);
    assert.ok(spent > 30 && spent <= 50, String(spent));
    assert.deepEqual(
      answers.find(({ status }) => status >= 300),
      TOO_MUCH,
    );
    await intact();
  });

  test('one payment, one payee, and who is paid at all', async () => {
    const owner = await party();
    const { id } = await newEvent(owner, { ticketPriceUsdc: '10' });
    const careful = await limited({ per_payment: 10_000_000n });
    assert.deepEqual(await buy(careful, id, 2), TOO_MUCH);
    assert.equal((await buy(careful, id, 1)).status, 201);
    const fair = await limited({ per_payee: 15_000_000n });
    assert.equal((await buy(fair, id, 1)).status, 201);
    assert.deepEqual(await buy(fair, id, 1), TOO_MUCH);
    assert.equal((await split(fair, newAddress(), '15')).status, 200);
    const loyal = await limited({ payees: [owner.address.toLowerCase()] });
    assert.equal((await buy(loyal, id, 1)).status, 201);
    assert.deepEqual(await split(loyal, newAddress(), '1'), {
      status: 403,
      body: { error: 'Recipient not allowed for the agent' },
    });
    await intact();
  });
});
