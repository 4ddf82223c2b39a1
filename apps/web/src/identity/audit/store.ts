import type { SystemTx, UserTx } from '@troupe/db';

export interface Page {
  limit: number;
  /** Only entries older than the one with this id. */
  before?: string;
  userId?: string;
}

export interface EntryRow {
  id: bigint;
  user_id: string | null;
  email: string | null;
  actor_id: string | null;
  actor_email: string | null;
  action: string;
  detail: unknown;
  ip: string | null;
  created_at: Date;
}

export function listEntries(tx: UserTx | SystemTx, { limit, before, userId }: Page): Promise<EntryRow[]> {
  let query = tx
    .selectFrom('audit_log')
    .selectAll()
    .select((entry) =>
      entry.selectFrom('users').select('email').whereRef('users.id', '=', 'audit_log.user_id').as('email'),
    )
    .select((entry) =>
      entry.selectFrom('users').select('email').whereRef('users.id', '=', 'audit_log.actor_id').as('actor_email'),
    )
    .orderBy('id', 'desc')
    .limit(limit);
  if (before !== undefined) query = query.where('id', '<', BigInt(before));
  if (userId !== undefined) query = query.where('user_id', '=', userId);
  return query.execute();
}
