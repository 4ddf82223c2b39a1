import type { VersionedDefinition } from '@troupe/domain';
import type { SessionEvent, SessionEventBody, SessionStatus } from '../session/events.ts';
import type { Session } from './conversations.ts';
import type { Lease } from './lease.ts';
import type { Memory } from './memory.ts';
import type { LogLine } from './records.ts';

/** The logs of sessions, what comes in, and who works on it. A part of every store. */

export type SessionRef = { id: string } | { channel: string; key: string };

export interface Delivery {
  to: SessionRef;
  events: readonly SessionEventBody[];
  /** The same input under the same id is taken once. */
  inputId?: string;
  /** Take the session's lease too, if it is free. */
  claim?: Lease;
  /** What the agent is about to look for in its memory: a store may find it on the way. */
  recall?: { query: string; limit: number };
}

export interface Delivered {
  session: Session;
  /** The number of the last event that was stored; for a duplicate, of the one stored before. */
  seq: number;
  duplicate: boolean;
  claimed: Claimed | undefined;
}

export interface Claimed extends VersionedDefinition {
  session: Session;
  /** The log without what the newest compaction stands for. */
  events: SessionEvent[];
  tokensToday: number;
  /** What the memory holds about the delivered input, if the store looked. */
  recalled?: Recalled;
}

export interface Recalled {
  query: string;
  memories: readonly Pick<Memory, 'key' | 'content'>[];
}

/** `version` is the newest definition's, while the session is held. */
export type Appended = { ok: true; seq: number; version?: number } | { ok: false; why: 'conflict' | 'lost' };

export interface Append {
  owner: string;
  /** The last event this writer knows. If there is a newer one nothing is stored: `conflict`. */
  expected: number;
  events: readonly SessionEventBody[];
  /** Let the lease go, and leave the session in this status. */
  release?: SessionStatus;
  /** Counted for the day. */
  tokens?: number;
  /** What the owner's log says about it, stored with it. */
  lines?: readonly LogLine[];
}

export interface SessionStore {
  /** With `bytes`, the page ends where it gets that large, after its first event at the earliest. */
  events: (sessionId: string, page: { after: number; limit: number; bytes?: number }) => Promise<SessionEvent[]>;
  /** Adds from outside, whoever holds the lease. A session named by channel and key is made; an unknown id is undefined. */
  deliver: (delivery: Delivery) => Promise<Delivered | undefined>;
  /** Undefined: another holds the lease, or there is no such session or definition. */
  claim: (sessionId: string, lease: Lease) => Promise<Claimed | undefined>;
  append: (sessionId: string, append: Append) => Promise<Appended>;
  /** False: the lease is another's now. */
  renew: (sessionId: string, lease: Lease) => Promise<{ held: boolean; lastSeq: number }>;
  release: (sessionId: string, owner: string) => Promise<void>;
  /** Sessions with work that nobody is doing. */
  unfinished: () => Promise<string[]>;
}
