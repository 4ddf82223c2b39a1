import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTicket, holderOf, makeTicket } from './tickets.ts';

const subject = { agentId: 'ada', tokenHash: 'hash' };
const holder = { kind: 'session', id: '0f8a-11' } as const;
const made = new Date('2026-03-01T12:00:00Z');
const ticket = makeTicket('secret', subject, holder, made);
const after = (ms: number) => new Date(made.getTime() + ms);

test('a ticket opens for five minutes; what it opened is asked about without them', () => {
  assert.equal(checkTicket('secret', subject, ticket, after(299_999)), true);
  assert.equal(checkTicket('secret', subject, ticket, after(300_000)), false);
  assert.equal(checkTicket('secret', subject, ticket), true);
});

test('for one agent, one token and one holder, and only the platform makes it', () => {
  assert.deepEqual(holderOf(ticket), holder);
  assert.equal(checkTicket('other', subject, ticket, made), false);
  assert.equal(checkTicket('secret', { ...subject, agentId: 'bob' }, ticket, made), false);
  assert.equal(checkTicket('secret', { ...subject, tokenHash: 'rotated' }, ticket, made), false);
  assert.equal(checkTicket('secret', subject, ticket.replace('0f8a', '1f8a'), made), false);
  assert.equal(checkTicket('secret', subject, ticket.replace(/tkt_\d+/, 'tkt_9999999999999'), made), false);
});

test('what is no ticket has no holder', () => {
  for (const token of ['', 'tkt_', 'tkt_1.x-2.3', 'tkt_1.session-.3', `sk_${ticket}`])
    assert.equal(holderOf(token), undefined);
});
