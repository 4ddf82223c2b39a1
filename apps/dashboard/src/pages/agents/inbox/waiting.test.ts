import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessRequest, Device, InboxItem, Notice } from '@troupe/contract';
import { payersIn, subjectOf, waitingOf } from './waiting.ts';
import type { Asked } from './waiting.ts';

test('what waits for a person, the oldest first', () => {
  const approval = (id: string, at: string) => ({ kind: 'approval', id, at }) as InboxItem;
  const join = (id: string, askedAt: string) => ({ id, askedAt }) as AccessRequest;
  const device = { id: 'e', firstSeen: '2026-05' } as Device;
  const payment = (id: string, status: string) => ({ id, status, createdAt: '2026-06' }) as Asked;
  const trouble = (id: string, kind: string, readAt: string | null = null) =>
    ({ id, kind, readAt, createdAt: '2026-07', link: '/dashboard/tasks?task=t' }) as Notice;
  const all = waitingOf({
    items: [approval('b', '2026-02'), approval('d', '2026-04')],
    joins: [join('c', '2026-03'), join('a', '2026-01')],
    devices: [device],
    payments: [payment('f', 'approval'), payment('g', 'paid')],
    notices: [trouble('1', 'task_failing'), trouble('2', 'task_failing', '2026-08'), trouble('3', 'message_failed')],
  });
  assert.deepEqual(
    all.map(({ key }) => key),
    ['a', 'b', 'c', 'd', 'e', 'f', 'notice-1'],
  );
  assert.deepEqual(
    all.map(({ kind }) => kind),
    ['join', 'approval', 'join', 'approval', 'device', 'payment', 'trouble'],
  );
  assert.deepEqual(subjectOf({ kind: 'task_failing', link: '/dashboard/tasks?task=t1' }), { id: 't1', isTask: true });
  assert.deepEqual(subjectOf({ kind: 'agent_failed', link: '/dashboard/agents/a1' }), { id: 'a1', isTask: false });
  // One of an earlier version says nothing that could be acted on.
  assert.equal(subjectOf({ kind: 'task_failing', link: '/dashboard/tasks' }).id, '');
  const notice = (agent: number) => ({ kind: 'payment_waiting', link: `/dashboard/policy?agent=a${agent}` }) as const;
  assert.deepEqual(payersIn([notice(1), notice(1), { kind: 'agent_failed', link: '/x?agent=a2' }]), ['a1']);
  assert.deepEqual(payersIn([{ ...notice(3), link: null }]), []);
  assert.equal(payersIn(Array.from({ length: 50 }, (_, n) => notice(n))).length, 5);
});
