import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessRequest, Device, InboxItem, InboxMark, Notice, WaitingPayment } from '@troupe/contract';
import { byMarks, canUndo, laterChoices, subjectOf, waitingOf } from './waiting.ts';
import type { Waiting } from './waiting.ts';

test('what waits for a person, the oldest first', () => {
  const approval = (id: string, at: string) => ({ kind: 'approval', id, at }) as InboxItem;
  const join = (id: string, askedAt: string) => ({ id, askedAt }) as AccessRequest;
  const device = { id: 'e', firstSeen: '2026-05' } as Device;
  const payment = (id: string) => ({ id, createdAt: '2026-06' }) as WaitingPayment;
  const trouble = (id: string, kind: string, readAt: string | null = null) =>
    ({ id, kind, readAt, createdAt: '2026-07', link: '/dashboard/tasks?task=t' }) as Notice;
  const all = waitingOf({
    items: [approval('b', '2026-02'), approval('d', '2026-04')],
    joins: [join('c', '2026-03'), join('a', '2026-01')],
    devices: [device],
    payments: [payment('f')],
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
});

test('what is put off waits later, what is done with does not wait, and what asks again does', () => {
  const waiting = (key: string, kind: Waiting['kind'] = 'approval', at = '2026-01-01T00:00:00.000Z') =>
    ({ key, kind, at }) as Waiting;
  const mark = (item: string, until: string | null = null) =>
    ({ item, until, markedAt: '2026-01-02T00:00:00.000Z' }) as InboxMark;
  const now = Date.parse('2026-01-03T12:00:00.000Z');
  const all = [
    waiting('a'),
    waiting('b'),
    waiting('c'),
    waiting('d'),
    waiting('e', 'join', '2026-01-02T00:00:01.000Z'),
    waiting('f', 'join'),
  ];
  const marks = [
    mark('b'),
    mark('c', '2026-01-03T12:00:01.000Z'),
    mark('d', '2026-01-03T12:00:00.000Z'),
    mark('e'),
    mark('f'),
    mark('gone'),
  ];
  const { items, later } = byMarks(all, marks, now);
  assert.deepEqual(
    items.map(({ key }) => key),
    ['a', 'd', 'e'],
  );
  assert.deepEqual(
    later.map(({ key, until }) => [key, until]),
    [['c', '2026-01-03T12:00:01.000Z']],
  );
});

test('what has happened cannot be undone', () => {
  const mark = (state: InboxMark['state'], taskId: string | null = null) => ({ state, taskId }) as InboxMark;
  assert.deepEqual([mark('later'), mark('done'), mark('decided'), mark('decided', 't')].map(canUndo), [
    true,
    true,
    false,
    true,
  ]);
});

test('times to come back at are ahead, by the own clock', () => {
  const kinds = (now: Date) => laterChoices(now).map(({ kind }) => kind);
  // A Wednesday morning, its evening, a Sunday.
  assert.deepEqual(kinds(new Date(2026, 0, 7, 9)), ['hour', 'evening', 'tomorrow', 'monday']);
  assert.deepEqual(kinds(new Date(2026, 0, 7, 17)), ['hour', 'tomorrow', 'monday']);
  assert.deepEqual(kinds(new Date(2026, 0, 11, 20)), ['hour', 'tomorrow']);
  const [, , tomorrow, monday] = laterChoices(new Date(2026, 0, 7, 9));
  assert.deepEqual([tomorrow!.at, monday!.at], [new Date(2026, 0, 8, 8), new Date(2026, 0, 12, 8)]);
  assert.deepEqual(laterChoices(new Date(2026, 0, 5, 9)).at(-1)!.at, new Date(2026, 0, 12, 8));
});
