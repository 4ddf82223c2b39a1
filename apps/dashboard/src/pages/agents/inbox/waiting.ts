import type { AccessRequest, InboxItem } from '@troupe/contract';

export type Waiting = { key: string; at: string } & (
  | { kind: 'approval'; item: Extract<InboxItem, { kind: 'approval' }> }
  | { kind: 'visitor'; item: Extract<InboxItem, { kind: 'visitor' }> }
  | { kind: 'join'; item: AccessRequest }
);

/** Everything that waits for a person, the oldest first. */
export const waitingOf = (items: readonly InboxItem[], joins: readonly AccessRequest[]): Waiting[] =>
  [
    ...items.map((item) => ({ kind: item.kind, key: item.id, at: item.at, item }) as Waiting),
    ...joins.map((item) => ({ kind: 'join' as const, key: item.id, at: item.askedAt, item })),
  ].sort((a, b) => a.at.localeCompare(b.at));
