import type { AccessRequest, InboxItem } from '@troupe/contract';

export type Waiting = { key: string; at: string } & (
  | { kind: 'approval'; item: InboxItem }
  | { kind: 'join'; item: AccessRequest }
);

/** Everything that waits for a person, the oldest first. */
export const waitingOf = (approvals: readonly InboxItem[], joins: readonly AccessRequest[]): Waiting[] =>
  [
    ...approvals.map((item) => ({ kind: 'approval' as const, key: item.id, at: item.at, item })),
    ...joins.map((item) => ({ kind: 'join' as const, key: item.id, at: item.askedAt, item })),
  ].sort((a, b) => a.at.localeCompare(b.at));
