import type { AccessRequest, Device, InboxItem, Notice, TypesOf, web } from '@troupe/contract';

type Payment = TypesOf<typeof web.policy.listPayments>['reply']['payments'][number];
/** What an agent asks to pay. */
export type Asked = Payment & { agentId: string };

export type Waiting = { key: string; at: string } & (
  | { kind: 'approval'; item: Extract<InboxItem, { kind: 'approval' }> }
  | { kind: 'visitor'; item: Extract<InboxItem, { kind: 'visitor' }> }
  | { kind: 'join'; item: AccessRequest }
  | { kind: 'device'; item: Device }
  | { kind: 'payment'; item: Asked }
  | { kind: 'trouble'; item: Notice }
);

interface Sources {
  items: readonly InboxItem[];
  joins: readonly AccessRequest[];
  devices: readonly Device[];
  payments: readonly Asked[];
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
    ...payments
      .filter(({ status }) => status === 'approval')
      .map((item) => ({ kind: 'payment' as const, key: item.id, at: item.createdAt, item })),
    ...notices
      .filter(isTrouble)
      .map((item) => ({ kind: 'trouble' as const, key: `notice-${item.id}`, at: item.createdAt, item })),
  ].sort((a, b) => a.at.localeCompare(b.at));

/** Kinds of notices that stand in the inbox by themselves. */
const WAITS: ReadonlySet<Notice['kind']> = new Set(['access_asked', 'device_waiting', 'payment_waiting']);
export const isInInbox = (notice: Notice): boolean => WAITS.has(notice.kind) || isTrouble(notice);

const MOST_PAYERS = 5;

/** Agents that asked to pay lately, whether that was read or not: payments are listed by agent. */
export const payersIn = (notices: readonly Pick<Notice, 'kind' | 'link'>[]): string[] => {
  const ids = notices
    .filter(({ kind }) => kind === 'payment_waiting')
    .map(({ link }) => new URLSearchParams(link?.split('?')[1] ?? '').get('agent') ?? '')
    .filter(Boolean);
  return [...new Set(ids)].slice(0, MOST_PAYERS);
};
