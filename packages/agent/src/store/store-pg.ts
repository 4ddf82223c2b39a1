import type { VersionedDefinition } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import type { Database } from '@troupe/db';
import { sql } from 'kysely';
import { createAccess, type Access, type PgStoreOptions } from './pg-access.ts';
import { storableJson as json } from './pg-values.ts';
import { pgBackground } from './background-pg.ts';
import { pgConversations } from './conversations-pg.ts';
import { pgMeanings } from './meaning-pg.ts';
import { createBatches } from './store-pg-batches.ts';
import { memories, todos } from './store-pg-memory.ts';
import { channels } from './store-pg-channels.ts';
import { figures, logging, LOGS_KEPT } from './store-pg-records.ts';
import { approvals, sessions } from './store-pg-sessions.ts';
import type { DefinitionStore } from './definitions.ts';
import type { AgentStore } from './store.ts';

/** The store of an agent that lives as rows in the platform's database. */

/** What the agent is. */
function definitions({ db, userId, agentId, first }: Access): DefinitionStore {
  return {
    definition: () =>
      first(sql<VersionedDefinition>`select version, definition from agent_definitions
        where agent_id = ${agentId} order by version desc limit 1`),
    saveDefinition: (definition) =>
      db.asUser(userId, async (tx) => {
        const owned = await sql`select from agents where id = ${agentId} for update`.execute(tx);
        if (owned.rows.length === 0) throw new AppError(404, 'Agent not found');
        const saved = await sql<{ version: number }>`
          insert into agent_definitions (agent_id, user_id, version, definition)
          select ${agentId}, ${userId}, coalesce(max(version), 0) + 1, ${json(definition)}::jsonb
          from agent_definitions where agent_id = ${agentId} returning version`.execute(tx);
        return saved.rows[0]?.version ?? 0;
      }),
  };
}

export function createPgStore(options: PgStoreOptions): AgentStore {
  const access = createAccess(options);
  const { db, userId, agentId, now, scoped, scopeName } = access;
  const own = { scoped, agentId, userId, teamScope: scopeName('team'), now, logsKept: LOGS_KEPT };
  const batches = createBatches({ ...own, onFiles: options.onFiles });
  const meanings = pgMeanings(access);
  return {
    ...definitions(access),
    ...pgConversations(scoped, userId, agentId),
    ...sessions(access, batches),
    ...approvals(access),
    ...pgBackground(access),
    ...meanings,
    ...memories(access, meanings),
    ...todos(access),
    ...logging(access),
    ...figures(access),
    ...channels(access),
    reset: () =>
      db.asUser(userId, async (tx) => {
        await sql`delete from agent_sessions where agent_id = ${agentId}`.execute(tx);
        await sql`delete from agent_memory where agent_id = ${agentId}`.execute(tx);
        await sql`delete from agent_todos where agent_id = ${agentId}`.execute(tx);
      }),
  };
}

/** Agents, of all users, with work that nobody is doing: what a host takes up after a restart. */
export async function unfinishedAgents(db: Database, limit: number): Promise<{ userId: string; agentId: string }[]> {
  const { rows } = await sql<{ userId: string; agentId: string }>`
    select distinct user_id as "userId", agent_id as "agentId" from agent_sessions where status = 'open'
      and (lease_owner is null or lease_until < clock_timestamp()) limit ${limit}`.execute(db.system);
  return rows;
}
