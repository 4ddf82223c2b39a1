import { openSqlite, type Sqlite } from './sqlite.ts';
import type { Scope } from './memory.ts';

export interface SqliteStoreOptions {
  /** A path, or `:memory:`. */
  file: string;
  agentId: string;
  /** Members of a team that run in one program share the file, and through it the team's memory. */
  teamId?: string;
  now?: () => Date;
}

/** What every part of the store asks with. */
export interface SqliteAccess extends Sqlite {
  agentId: string;
  now: () => Date;
  iso: () => string;
  scopeName: (scope: Scope) => string;
}

/** A part of the store as it is in the file, which is read and written at once. */
export type Sync<Part> = {
  [Name in keyof Part]: Part[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Awaited<Answer>
    : never;
};

export const openAccess = ({ file, agentId, teamId, now = () => new Date() }: SqliteStoreOptions): SqliteAccess => ({
  ...openSqlite(file),
  agentId,
  now,
  iso: () => now().toISOString(),
  scopeName: (scope) => (scope === 'team' && teamId ? `team:${teamId}` : `agent:${agentId}`),
});
