import { cp, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import type { Database } from '@troupe/db';
import type { AgentRow } from './registry.ts';

/** The rows of an agent that a backup holds, beside its workspace. */
const TABLES = [
  'agent_definitions',
  'agent_sessions',
  'agent_events',
  'agent_memory',
  'agent_todos',
  'agent_days',
] as const;

/** Copies an agent's rows and files into a folder that appears whole or not at all. */
export async function backUp(db: Database, agent: AgentRow, workspace: string, folder: string): Promise<string> {
  const target = path.join(folder, agent.id, new Date().toISOString().replaceAll(/[:.]/g, '-'));
  const partial = `${target}.partial`;
  await mkdir(partial, { recursive: true, mode: 0o700 });
  for (const table of TABLES) {
    const { rows } = await sql<{ row: unknown }>`select to_jsonb(t) as row from ${sql.table(table)} t
      where agent_id = ${agent.id}`.execute(db.user(agent.user_id));
    const lines = rows.map(({ row }) => `${JSON.stringify(row)}\n`).join('');
    await writeFile(path.join(partial, `${table}.jsonl`), lines, { mode: 0o600 });
  }
  await cp(workspace, path.join(partial, 'workspace'), { recursive: true, verbatimSymlinks: true }).catch(
    (error: NodeJS.ErrnoException) => {
      // An agent that never used a file has no folder.
      if (error.code !== 'ENOENT') throw error;
    },
  );
  await rename(partial, target);
  return target;
}
