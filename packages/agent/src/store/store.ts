import type { AgentDefinition, VersionedDefinition } from '@troupe/domain';
import type { BackgroundStore } from './background.ts';
import type { ChannelStore } from './channel-store.ts';
import type { Lease } from './lease.ts';
import type { ConversationStore, Session } from './conversations.ts';
import type { MeaningStore, Near } from './meaning.ts';
import type { Memory, MemoryBounds, Scope } from './memory.ts';
import type { FactStore } from './facts.ts';
import type { Question, SessionEvent, SessionEventBody, SessionStatus } from '../session/events.ts';

/**
 * Everything that an agent keeps. One store belongs to one agent. Two implementations, PostgreSQL and SQLite, pass one
 * suite of tests. One process at a time works on a session: it holds the session's lease, and what it appends is
 * refused once the lease is another's.
 */

/** About how large a page of anything gets; its first entry is there whatever its size. */
export const PAGE_BYTES = 2 * 1024 * 1024;
/** Completed todos further back than this from the newest are forgotten; more than this may not be open. */
export const TODOS_KEPT = 500;
/** Approvals in a page, unless said. */
export const APPROVALS_SHOWN = 100;
/** How far back calls are looked for that were asked about, and what is read of each. */
export const ASKED_LOOKED_AT = 500;
export const ASKED_CHARACTERS = 20_000;

export type { Lease, Memory, MemoryBounds, Near, Scope, Session };

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

export interface Todo {
  id: string;
  description: string;
  status: 'pending' | 'in-progress' | 'completed';
}

export type LogLevelName = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  level: LogLevelName;
  message: string;
  source: string;
}

export interface LogEntry extends LogLine {
  id: string;
  timestamp: string;
}

export interface Message {
  id: string;
  sender: 'user' | 'agent';
  content: string;
  timestamp: string;
  platform: string;
}

export interface PendingApproval {
  approvalId: string;
  sessionId: string;
  callId: string;
  tool: string;
  args: string;
  /** Words are asked for, not consent. */
  question?: Question;
  requestedAt: string;
}

export interface RunStats {
  runs: number;
  failed: number;
  averageMs: number | null;
  lastHour: number;
}

/** What every store has; `facts` only one whose conversations are not the platform's. */
export interface AgentStore extends ConversationStore, BackgroundStore, ChannelStore, MeaningStore {
  definition: () => Promise<VersionedDefinition | undefined>;
  /** Saves a next version and answers its number. */
  saveDefinition: (definition: AgentDefinition) => Promise<number>;

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

  /** The oldest first; `limit` of them, or fewer where they are large. */
  pendingApprovals: (page?: { limit: number; offset: number }) => Promise<PendingApproval[]>;
  /** What the calls said about which it asked lately with this tool, the newest first. */
  askedLately: (tool: string, limit: number) => Promise<string[]>;
  /** Once only: `decided` when somebody was faster. */
  decide: (
    approvalId: string,
    approved: boolean,
    by: string,
    answer?: string,
  ) => Promise<{ sessionId: string } | 'unknown' | 'decided'>;

  /** With a key it replaces the entry of that key. The oldest go when there are more than `maxEntries`. */
  remember: (entry: { scope: Scope; key?: string; content: string }, bounds: MemoryBounds) => Promise<Memory>;
  /**
   * Best match first; without a query the newest first, from `offset` on, and fewer than `limit` where they are large.
   * Entries past their time are not found. With `near`, what is near by meaning is found beside what has the words.
   */
  recall: (search: {
    scope: Scope;
    query?: string;
    limit: number;
    offset?: number;
    near?: Near | undefined;
  }) => Promise<Memory[]>;
  editMemory: (id: string, content: string, bounds: MemoryBounds) => Promise<Memory | undefined>;
  forget: (id: string) => Promise<boolean>;
  todos: (scope: Scope) => Promise<Todo[]>;
  addTodos: (scope: Scope, descriptions: readonly string[]) => Promise<Todo[]>;
  setTodo: (scope: Scope, id: string, status: Todo['status']) => Promise<Todo | undefined>;
  /** Memory, todo list and conversation go; definition and log stay. */
  reset: () => Promise<void>;

  log: (line: LogLine) => Promise<void>;
  /** Newest first. `after` gives only what came later than that entry. */
  logs: (page: { limit: number; level?: LogLevelName; after?: string }) => Promise<{ logs: LogEntry[]; total: number }>;
  /** Newest first; fewer than `limit` where they are large. */
  messages: (page: { limit: number; offset: number }) => Promise<{ messages: Message[]; total: number }>;
  stats: (now: Date) => Promise<RunStats>;

  readonly facts?: FactStore;
}
