import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '@troupe/kernel';
import { startUnderground, UNAUTHORIZED, type Owner } from '../testing.ts';

let world: Awaited<ReturnType<typeof startUnderground>>;
let ann: Owner;
let ben: Owner;
before(async () => {
  world = await startUnderground();
  ann = await world.owner();
  ben = await world.owner();
});
after(() => world.stop());

/** Signed by the platform for its owner, and sent. */
async function say(from: Owner, to: Owner, action: string, payload: object) {
  await from.at('POST', 'wallets', { agentId: from.agentId });
  const message = {
    version: '1.0',
    messageId: newId(),
    timestamp: new Date().toISOString(),
    from: { agentId: from.agentId },
    to: { agentId: to.agentId },
    action,
    payload,
  };
  const signed = await from.at('POST', 'bus/sign', { message });
  return world.asStranger('POST', 'bus/send', signed.body.message);
}

test('both sides of a deal see it, and nobody else', async () => {
  const carl = await world.owner();
  await ben.at('PUT', `doors/${ben.agentId}`, { open: true });
  const offer = await say(ann, ben, 'BOOKING_OFFER', { talentName: 'The Band', amount: '500' });
  assert.equal(offer.status, 200, JSON.stringify(offer.body));
  const request = await say(ann, ben, 'AMPLIFY_REQUEST', { content: 'Listen!', reward: '2.5' });
  for (const who of [ann, ben]) {
    const { bookings, count } = (await who.at('GET', 'bookings?limit=5')).body;
    assert.deepEqual([count, bookings[0].id, bookings[0].status], [1, offer.body.bookingId, 'offered']);
    const { requests } = (await who.at('GET', 'amplify')).body;
    assert.deepEqual([requests.length, requests[0].id], [1, request.body.requestId]);
  }
  for (const path of ['bookings', 'amplify']) {
    assert.equal((await carl.at('GET', path)).body.count, 0, path);
    assert.deepEqual(await world.asStranger('GET', path), UNAUTHORIZED);
  }
});
