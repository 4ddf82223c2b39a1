import type { SystemTx, UserTx } from '@troupe/db';
import type { Clock } from '@troupe/kernel';

export type Tx = UserTx | SystemTx;

export interface AuditEntry {
  /** Whose account it is about; null: nobody's. */
  userId: string | null;
  /** Who did it, when that is somebody else. */
  actorId?: string;
  action: string;
  detail?: Record<string, unknown>;
  ip?: string;
}

export type Audit = (tx: Tx, entry: AuditEntry) => Promise<void>;

/** Goes into the transaction of what it records: one is never there without the other. */
export const createAudit =
  (clock: Clock): Audit =>
  async (tx, { userId, actorId, action, detail = {}, ip }) => {
    await tx
      .insertInto('audit_log')
      .values({ user_id: userId, actor_id: actorId, action, detail, ip, created_at: clock() })
      .execute();
  };
