import type { ApprovalStore } from './approvals.ts';
import type { BackgroundStore } from './background.ts';
import type { ChannelStore } from './channel-store.ts';
import type { ConversationStore, Session } from './conversations.ts';
import type { DefinitionStore } from './definitions.ts';
import type { FactStore } from './facts.ts';
import type { Lease } from './lease.ts';
import type { MeaningStore } from './meaning.ts';
import type { Memory, MemoryBounds, MemoryStore, Near, Scope } from './memory.ts';
import type { FigureStore, LogStore } from './records.ts';
import type { SessionStore } from './sessions.ts';
import type { TodoStore } from './todos.ts';

/**
 * Everything that an agent keeps, by noun. One store belongs to one agent. Two implementations, PostgreSQL and SQLite, pass
 * one suite of tests. One process at a time works on a session: it holds the session's lease, and what it appends is
 * refused once the lease is another's.
 */

/** About how large a page of anything gets; its first entry is there whatever its size. */
export const PAGE_BYTES = 2 * 1024 * 1024;

export type { Lease, Memory, MemoryBounds, Near, Scope, Session };
export * from './approvals.ts';
export * from './records.ts';
export * from './sessions.ts';
export * from './todos.ts';

/** What every store has; `facts` only one whose conversations are not the platform's. */
export interface AgentStore
  extends
    DefinitionStore,
    SessionStore,
    ConversationStore,
    ApprovalStore,
    MemoryStore,
    MeaningStore,
    TodoStore,
    BackgroundStore,
    ChannelStore,
    LogStore,
    FigureStore {
  /** Memory, todo list and conversation go; definition and log stay. */
  reset: () => Promise<void>;

  readonly facts?: FactStore;
}
