import type { AccessRequest, Device, InboxItem, InboxMark, Notice, WaitingPayment } from '@troupe/contract';

export type Waiting = { key: string; at: string } & (
  | { kind: 'approval'; item: Extract<InboxItem, { kind: 'approval' }> }
  | { kind: 'visitor'; item: Extract<InboxItem, { kind: 'visitor' }> }
  | { kind: 'join'; item: AccessRequest }
  | { kind: 'device'; item: Device }
  | { kind: 'payment'; item: WaitingPayment }
  | { kind: 'trouble'; item: Notice }
);

interface Sources {
  items: readonly InboxItem[];
  joins: readonly AccessRequest[];
  devices: readonly Device[];
  payments: readonly WaitingPayment[];
  notices: readonly Notice[];
}

/** What stands still until somebody does something. */
const TROUBLES: ReadonlySet<Notice['kind']> = new Set(['agent_failed', 'task_failing']);

/** What a notice of trouble is about, as its link says. */
export function subjectOf({ kind, link }: Pick<Notice, 'kind' | 'link'>): { id: string; isTask: boolean } {
  const [path = '', query = ''] = (link ?? '').split('?');
  const isTask = kind === 'task_failing';
  return { isTask, id: (isTask ? new URLSearchParams(query).get('task') : path.split('/').at(-1)) ?? '' };
}

/** Unread, and about something that can be acted on. */
const isTrouble = (notice: Notice): boolean =>
  notice.readAt === null && TROUBLES.has(notice.kind) && subjectOf(notice).id !== '';

/** Everything that waits for a person, the oldest first. */
export const waitingOf = ({ items, joins, devices, payments, notices }: Sources): Waiting[] =>
  [
    ...items.map((item) => ({ kind: item.kind, key: item.id, at: item.at, item }) as Waiting),
    ...joins.map((item) => ({ kind: 'join' as const, key: item.id, at: item.askedAt, item })),
    ...devices.map((item) => ({ kind: 'device' as const, key: item.id, at: item.firstSeen, item })),
    ...payments.map((item) => ({ kind: 'payment' as const, key: item.id, at: item.createdAt, item })),
    ...notices
      .filter(isTrouble)
      .map((item) => ({ kind: 'trouble' as const, key: `notice-${item.id}`, at: item.createdAt, item })),
  ].sort((a, b) => a.at.localeCompare(b.at));

/** Kinds of notices that stand in the inbox by themselves. */
const WAITS: ReadonlySet<Notice['kind']> = new Set(['access_asked', 'device_waiting', 'payment_waiting']);
export const isInInbox = (notice: Notice): boolean => WAITS.has(notice.kind) || isTrouble(notice);

/** What may come back under the same name: what was said of it before does not count then. */
const RETURNING: ReadonlySet<Waiting['kind']> = new Set(['visitor', 'join']);

export type PutOff = Waiting & { until: string };

/** What waits now, and what waits later: by what was marked in any tab. */
export function byMarks(
  all: readonly Waiting[],
  marks: readonly InboxMark[],
  now: number,
): { items: Waiting[]; later: PutOff[] } {
  const known = new Map(marks.map((mark) => [mark.item, mark]));
  const items: Waiting[] = [];
  const later: PutOff[] = [];
  for (const waiting of all) {
    const mark = known.get(waiting.key);
    if (!mark || (RETURNING.has(waiting.kind) && waiting.at > mark.markedAt)) items.push(waiting);
    else if (mark.until === null) continue;
    else if (Date.parse(mark.until) <= now) items.push(waiting);
    else later.push({ ...waiting, until: mark.until });
  }
  return { items, later: later.sort((a, b) => a.until.localeCompare(b.until)) };
}

/** What was put off or done with comes back, and a task can be switched on again; all else has happened. */
export const canUndo = ({ state, taskId }: InboxMark): boolean => state !== 'decided' || taskId !== null;

const MORNING = 8;
const EVENING = 18;

/** When something may come back, the soonest first; by the clock of whoever puts it off. */
export function laterChoices(now: Date): { kind: 'hour' | 'evening' | 'tomorrow' | 'monday'; at: Date }[] {
  const on = (days: number, hour: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
  const toMonday = (8 - now.getDay()) % 7 || 7;
  return [
    { kind: 'hour', at: new Date(now.getTime() + 3_600_000) },
    ...(now.getHours() < EVENING - 1 ? [{ kind: 'evening' as const, at: on(0, EVENING) }] : []),
    { kind: 'tomorrow', at: on(1, MORNING) },
    ...(toMonday > 1 ? [{ kind: 'monday' as const, at: on(toMonday, MORNING) }] : []),
  ];
}
