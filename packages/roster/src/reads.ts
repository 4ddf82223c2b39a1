import type { SystemTx, UserTx } from '@troupe/db';
import { definitionSchema, type AgentDefinition, type VersionedDefinition } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import type { AgentRow } from './agent.ts';

/** Queries that are the same for one user and for the system; the scope says whose rows they see. */

type Tx = UserTx | SystemTx;

export interface Page {
  limit: number;
  offset: number;
}

/** Throws 404 where there is none. */
export function got<T>(found: T | undefined): T {
  if (found === undefined) throw new AppError(404, 'Agent not found');
  return found;
}

export const findAgent = (tx: Tx, id: string): Promise<AgentRow | undefined> =>
  tx.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirst();

export const listAgents = (tx: Tx, page?: Page): Promise<AgentRow[]> =>
  tx
    .selectFrom('agents')
    .selectAll()
    .orderBy('created_at')
    .orderBy('id')
    .$if(page !== undefined, (query) => query.limit(page!.limit).offset(page!.offset))
    .execute();

/** Running agents that keep their conversations themselves, those that changed last first. */
export const agentsElsewhere = (tx: UserTx, limit: number): Promise<{ id: string; name: string }[]> =>
  tx
    .selectFrom('agents')
    .select(['id', 'name'])
    .where((where) => where.or([where('outside', '=', true), where('driver', 'is not', null)]))
    .where('status', '=', 'running')
    .orderBy('updated_at', 'desc')
    .limit(limit)
    .execute();

export async function newestDefinition(tx: Tx, agentId: string): Promise<AgentDefinition> {
  const row = await tx
    .selectFrom('agent_definitions')
    .select('definition')
    .where('agent_id', '=', agentId)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return definitionSchema.parse(got(row).definition);
}

/** The newest first. Only so many are kept of each agent. */
export async function definitionsOf(tx: Tx, agentId: string, most: number): Promise<VersionedDefinition[]> {
  const rows = await tx
    .selectFrom('agent_definitions')
    .select(['version', 'definition'])
    .where('agent_id', '=', agentId)
    .orderBy('version', 'desc')
    .limit(most)
    .execute();
  return rows.map(({ version, definition }) => ({ version, definition: definitionSchema.parse(definition) }));
}

export async function userDefault(tx: Tx, userId: string): Promise<unknown> {
  const row = await tx.selectFrom('agent_configs').select('config').where('user_id', '=', userId).executeTakeFirst();
  return row?.config;
}
