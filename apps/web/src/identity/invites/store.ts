import type { SystemTx } from '@troupe/db';

const COLUMNS = [
  'id',
  'user_id',
  'token_sealed',
  'email',
  'name',
  'created_at',
  'expires_at',
  'used_at',
  'used_by',
] as const;

export interface InviteRow {
  id: string;
  user_id: string;
  token_sealed: Buffer;
  email: string | null;
  name: string | null;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
  used_by: string | null;
}

/** False: the user is gone. One user makes one invite at a time, so that the bound holds. */
export async function lockUser(tx: SystemTx, id: string): Promise<boolean> {
  const row = await tx.selectFrom('users').select('id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
  return row !== undefined;
}

interface NewInvite {
  id: string;
  user_id: string;
  token_hash: string;
  token_sealed: Buffer;
  by_admin: boolean;
  name?: string;
  email?: string;
  created_at: Date;
  expires_at: Date;
}

export async function insertInvite(tx: SystemTx, invite: NewInvite): Promise<void> {
  await tx.insertInto('invites').values(invite).execute();
}

/** `now`: only those that can still be used; `openOf`: only this user's. */
export async function countInvites(tx: SystemTx, { now, openOf }: { now?: Date; openOf?: string }): Promise<number> {
  let query = tx.selectFrom('invites').select((eb) => eb.fn.countAll<bigint>().as('count'));
  if (now) query = query.where('used_at', 'is', null).where('expires_at', '>', now);
  if (openOf !== undefined) query = query.where('user_id', '=', openOf);
  return Number((await query.executeTakeFirstOrThrow()).count);
}

export function findInvite(tx: SystemTx, by: { id: string } | { hash: string }): Promise<InviteRow | undefined> {
  const query = tx.selectFrom('invites').select(COLUMNS);
  return ('id' in by ? query.where('id', '=', by.id) : query.where('token_hash', '=', by.hash)).executeTakeFirst();
}

export const listInvites = (tx: SystemTx): Promise<InviteRow[]> =>
  tx.selectFrom('invites').select(COLUMNS).orderBy('created_at', 'desc').limit(500).execute();

/** Null: unknown, expired, or used by somebody else a moment ago. */
export async function takeInvite(
  tx: SystemTx,
  hash: string,
  usedBy: string,
  now: Date,
): Promise<{ userId: string; byAdmin: boolean } | null> {
  const row = await tx
    .updateTable('invites')
    .set({ used_at: now, used_by: usedBy })
    .where('token_hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning(['user_id', 'by_admin'])
    .executeTakeFirst();
  return row ? { userId: row.user_id, byAdmin: row.by_admin } : null;
}
