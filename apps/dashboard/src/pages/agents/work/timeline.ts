import type { SessionHead } from '@troupe/contract';
import type { Entry } from './log-entries.ts';

/** What an agent did, told as one line after the other. */
export type Event = { key: string; at: string } & (
  | { kind: 'conversation'; session: SessionHead }
  | { kind: 'log'; entry: Entry }
);

/** A page holds only so many. */
export const MOST_EVENTS = 200;

/** Conversations by their last step, and the log, the newest first. */
export const timelineOf = (sessions: readonly SessionHead[], entries: readonly Entry[]): Event[] =>
  [
    ...sessions.map((session) => ({
      kind: 'conversation' as const,
      key: `conversation-${session.id}`,
      at: session.updatedAt,
      session,
    })),
    ...entries.map((entry) => ({ kind: 'log' as const, key: `log-${entry.id}`, at: entry.timestamp, entry })),
  ]
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, MOST_EVENTS);
