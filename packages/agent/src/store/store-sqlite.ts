import { sqliteBackground } from './background-sqlite.ts';
import { sqliteConversations } from './conversations-sqlite.ts';
import { sqliteFacts } from './facts-sqlite.ts';
import { sqliteMeanings } from './meaning-sqlite.ts';
import { clearMemories } from './memory-index.ts';
import { openAccess, type SqliteStoreOptions, type Sync } from './sqlite-access.ts';
import { definitions } from './store-sqlite-definitions.ts';
import { memories, todos } from './store-sqlite-memory.ts';
import { channels } from './store-sqlite-channels.ts';
import { figures, logging } from './store-sqlite-records.ts';
import { approvals, sessions } from './store-sqlite-sessions.ts';
import type { FactStore } from './facts.ts';
import type { AgentStore } from './store.ts';

/** The store of an agent that runs as a program of its own: one file, no server. */

export interface SqliteStore extends AgentStore {
  readonly facts: FactStore;
  close: () => void;
}

export function createSqliteStore(options: SqliteStoreOptions): SqliteStore {
  const access = openAccess(options);
  const { run, atomically, agentId, iso, close } = access;
  const meanings = sqliteMeanings(access);
  const store: Sync<Omit<AgentStore, 'facts'>> = {
    ...definitions(access),
    ...sqliteConversations(access, agentId, iso),
    ...sessions(access),
    ...approvals(access),
    ...sqliteBackground(access),
    ...meanings,
    ...memories(access, meanings),
    ...todos(access),
    ...logging(access),
    ...figures(access),
    ...channels(access),
    reset: () =>
      atomically(() => {
        run('delete from background where agent_id = ?', agentId);
        run('delete from events where agent_id = ?', agentId);
        run('delete from sessions where agent_id = ?', agentId);
        run('delete from memory where scope = ?', `agent:${agentId}`);
        clearMemories(access, `agent:${agentId}`);
        run('delete from todos where scope = ?', `agent:${agentId}`);
      }),
  };
  return { ...(promised(store) as AgentStore), facts: promised(sqliteFacts(access)) as FactStore, close };
}

/** Callers see the promises that every store gives. */
function promised(store: object): unknown {
  const made: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(store)) {
    made[name] = async (...args: unknown[]) => (method as (...given: unknown[]) => unknown)(...args);
  }
  return made;
}
