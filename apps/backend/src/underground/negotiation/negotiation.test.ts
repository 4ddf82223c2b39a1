import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { BusMessage } from '@troupe/contract';
import { createParties, type Party } from '../bus-testing.ts';
import { startUnderground } from '../testing.ts';

const delivered: BusMessage[] = [];
const world = await startUnderground({
  deliver: async (_agent, message) => void delivered.push(message),
});
const { party, signed, send, sent, logOf, ended } = createParties(world);
after(() => world.stop());

test('a booking goes back and forth until one side accepts', async () => {
  const [band, club, stranger] = [await party(), await party(), await party()];
  const offer = await sent(club, band, 'BOOKING_OFFER', { talentName: 'The Band', amount: '500' });
  assert.equal(offer.status, 200);
  const { bookingId } = offer.body;
  const refuse = async (from: Party, to: Party, action: string, payload: object, status: number, error: string) =>
    assert.deepEqual(await sent(from, to, action, { bookingId, ...payload }), { status, body: { error } });
  await refuse(club, band, 'BOOKING_ACCEPT', {}, 409, 'Waiting for the other side');
  await refuse(stranger, club, 'BOOKING_ACCEPT', {}, 404, 'Booking not found');
  await refuse(band, stranger, 'BOOKING_ACCEPT', {}, 400, 'The message must go to the other side of the booking');
  await refuse(band, club, 'BOOKING_COUNTER', { amount: 'much' }, 400, 'Invalid amount');
  assert.equal((await sent(band, club, 'BOOKING_COUNTER', { bookingId, amount: 650.5 })).status, 200);
  assert.equal((await sent(club, band, 'BOOKING_ACCEPT', { bookingId })).status, 200);
  await refuse(band, club, 'BOOKING_DECLINE', {}, 409, 'Booking is accepted');
  for (const { person } of [band, club]) {
    const { body } = await world.ask('GET', '/api/underground/bookings', person);
    const [booking] = body.bookings;
    assert.deepEqual(
      [booking.id, booking.status, booking.amount, booking.talentName],
      [bookingId, 'accepted', '650.50', 'The Band'],
    );
  }
  assert.equal((await world.ask('GET', '/api/underground/bookings', stranger.person)).body.count, 0);
});

test('the other side is told the booking’s id; a refused message leaves nothing', async () => {
  const [from, to] = [await party(), await party()];
  const message = await signed(from, to, 'BOOKING_OFFER', { talentName: 'X', amount: 1 });
  const { body } = await send(message);
  await ended(from, message.messageId);
  assert.deepEqual(delivered.find(({ messageId }) => messageId === message.messageId)?.metadata, {
    bookingId: body.bookingId,
    bookingStatus: 'offered',
  });
  for (const amount of [-1, 0, '1,5', '1e3', ' 1', 1e21, 0.0000001, null, '9999999999999']) {
    const bad = await signed(from, to, 'BOOKING_OFFER', { talentName: 'X', amount });
    assert.deepEqual(await send(bad), { status: 400, body: { error: 'Invalid amount' } }, String(amount));
    assert.equal(await logOf(from, bad.messageId), undefined);
  }
  assert.equal((await sent(from, to, 'BOOKING_SING', {})).status, 400);
});

test('two answers at once: one counts', async () => {
  const [from, to] = [await party(), await party()];
  const { bookingId } = (await sent(from, to, 'BOOKING_OFFER', { talentName: 'X', amount: 1 })).body;
  const answers = await Promise.all(
    ['BOOKING_ACCEPT', 'BOOKING_DECLINE'].map((action) => sent(to, from, action, { bookingId })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409],
  );
});

test('amplification: requested, accepted, done, by the one that was asked', async () => {
  const [from, to] = [await party(), await party()];
  const { requestId } = (await sent(from, to, 'AMPLIFY_REQUEST', { content: 'Listen!', reward: '2.5' })).body;
  const move = (who: Party, other: Party, action: string) => sent(who, other, action, { requestId });
  assert.equal((await move(from, to, 'AMPLIFY_ACCEPT')).status, 409);
  assert.deepEqual((await move(to, from, 'AMPLIFY_DONE')).body, { error: 'Amplification is requested' });
  assert.equal((await move(to, from, 'AMPLIFY_ACCEPT')).status, 200);
  assert.equal((await move(to, from, 'AMPLIFY_DONE')).status, 200);
  const { body } = await world.ask('GET', '/api/underground/amplify', to.person);
  assert.deepEqual([body.requests[0].status, body.requests[0].reward], ['done', '2.50']);
});
