import type { AgentDefinition, VersionedDefinition } from '@troupe/domain';
import type { DefinitionStore } from './definitions.ts';
import type { SqliteAccess, Sync } from './sqlite-access.ts';

/** As in PostgreSQL, where a trigger does it. */
const DEFINITIONS_KEPT = 50;

export function newestDefinition({ first, agentId }: SqliteAccess): VersionedDefinition | undefined {
  const found = first<{ version: number; definition: string }>(
    'select version, definition from definitions where agent_id = ? order by version desc limit 1',
    agentId,
  );
  return found && { version: found.version, definition: JSON.parse(found.definition) as AgentDefinition };
}

/** What the agent is. */
export function definitions(access: SqliteAccess): Sync<DefinitionStore> {
  const { first, run, agentId } = access;
  return {
    definition: () => newestDefinition(access),
    saveDefinition(definition) {
      const saved = first<{ version: number }>(
        `insert into definitions (agent_id, version, definition)
        select ?, coalesce(max(version), 0) + 1, ? from definitions where agent_id = ? returning version`,
        agentId,
        JSON.stringify(definition),
        agentId,
      );
      const version = saved?.version ?? 0;
      run('delete from definitions where agent_id = ? and version <= ?', agentId, version - DEFINITIONS_KEPT);
      return version;
    },
  };
}
