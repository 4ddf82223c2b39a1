import type { Database } from '@troupe/db';
import type { RawBuilder } from 'kysely';
import type { Scope } from './store.ts';

export interface PgStoreOptions {
  db: Database;
  userId: string;
  agentId: string;
  /** Whose memory and todo list the scope `team` means. */
  teamId?: string;
  now?: () => Date;
}

/** What every part of the store asks with, under its owner's scope. */
export function createAccess({ db, userId, agentId, teamId, now = () => new Date() }: PgStoreOptions) {
  const scoped = db.user(userId);
  const rows = async <T>(query: RawBuilder<T>): Promise<T[]> => (await query.execute(scoped)).rows;
  const first = async <T>(query: RawBuilder<T>): Promise<T | undefined> => (await rows(query))[0];
  const value = async <T>(query: RawBuilder<{ value: T }>): Promise<T | undefined> => (await first(query))?.value;
  const today = (): string => now().toISOString().slice(0, 10);
  const scopeName = (scope: Scope): string => (scope === 'team' && teamId ? `team:${teamId}` : `agent:${agentId}`);
  const scopeOwner = (scope: Scope): string | null => (scope === 'team' && teamId ? null : agentId);
  return { db, userId, agentId, now, scoped, rows, first, value, today, scopeName, scopeOwner };
}
export type Access = ReturnType<typeof createAccess>;
