import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextOfBooking, nextOfPromotion } from './deals.ts';

const parties = { fromAgentId: 'mine', toAgentId: 'theirs' };
const isOwn = (id: string) => id === 'mine';

test('a booking is answered by the side that did not speak last, and only where that is one’s own', () => {
  const next = nextOfBooking({ ...parties, status: 'countered', lastBy: 'theirs' }, isOwn);
  assert.deepEqual([next?.from, next?.to, next?.actions.length], ['mine', 'theirs', 3]);
  assert.equal(nextOfBooking({ ...parties, status: 'offered', lastBy: 'mine' }, isOwn), undefined);
  assert.equal(nextOfBooking({ ...parties, status: 'accepted', lastBy: 'theirs' }, isOwn), undefined);
});

test('a promotion is accepted and done by who was asked for it', () => {
  const asked = { fromAgentId: 'theirs', toAgentId: 'mine' };
  assert.deepEqual(nextOfPromotion({ ...asked, status: 'requested' }, isOwn)?.actions, ['AMPLIFY_ACCEPT']);
  assert.deepEqual(nextOfPromotion({ ...asked, status: 'accepted' }, isOwn)?.actions, ['AMPLIFY_DONE']);
  assert.equal(nextOfPromotion({ ...asked, status: 'done' }, isOwn), undefined);
  assert.equal(nextOfPromotion({ ...parties, status: 'requested' }, isOwn), undefined);
});
