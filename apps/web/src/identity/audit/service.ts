import type { Database } from '@troupe/db';
import { iso, type User } from '@troupe/kernel';
import { listEntries, type EntryRow, type Page } from './store.ts';

interface Entry {
  id: string;
  userId: string | null;
  email: string | null;
  actorId: string | null;
  actorEmail: string | null;
  action: string;
  detail: Record<string, unknown>;
  ip: string | null;
  createdAt: string;
}

const toEntry = ({ id, user_id, email, actor_id, actor_email, action, detail, ip, created_at }: EntryRow): Entry => ({
  id: String(id),
  userId: user_id,
  email,
  actorId: actor_id,
  actorEmail: actor_email,
  action,
  detail: detail as Record<string, unknown>,
  ip,
  createdAt: iso(created_at),
});

export type AuditService = ReturnType<typeof createAuditService>;

export function createAuditService(db: Database) {
  return {
    async list(user: User, { limit, before, userId }: Page): Promise<{ entries: Entry[]; next: string | null }> {
      const rows = user.isAdmin
        ? await listEntries(db.system, { limit, before, userId })
        : await listEntries(db.user(user.id), { limit, before });
      const entries = rows.map(toEntry);
      return { entries, next: entries.length === limit ? (entries.at(-1)?.id ?? null) : null };
    },
  };
}
