import type { SystemTx, UserTx } from '@troupe/db';

const COLUMNS = ['id', 'name', 'agent_id', 'ip', 'status', 'first_seen', 'last_seen'] as const;

/** Who pairs more than so many sees the newest. */
const LISTED = 500;

export const listByStatus = (tx: UserTx, status: 'pending' | 'approved') =>
  tx
    .selectFrom('devices')
    .select(COLUMNS)
    .where('status', '=', status)
    .orderBy('first_seen', 'desc')
    .limit(LISTED)
    .execute();

/** Held until the transaction ends, so that two decisions about one device come one after the other. */
export const lockDevice = (tx: UserTx, id: string) =>
  tx.selectFrom('devices').select(COLUMNS).where('id', '=', id).forUpdate().executeTakeFirst();

export interface DeviceChange {
  status: 'approved' | 'denied' | 'revoked';
  tokenHash: string | null;
  tokenSealed: Buffer | null;
}

export const changeStatus = (tx: UserTx, id: string, { status, tokenHash, tokenSealed }: DeviceChange) =>
  tx
    .updateTable('devices')
    .set({ status, token_hash: tokenHash, token_sealed: tokenSealed })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();

export interface NewDevice {
  id: string;
  userId: string;
  agentId: string;
  name: string;
  ip: string;
  secretHash: string;
  at: Date;
}

export const insertDevice = (tx: SystemTx, device: NewDevice) =>
  tx
    .insertInto('devices')
    .values({
      id: device.id,
      user_id: device.userId,
      agent_id: device.agentId,
      name: device.name,
      ip: device.ip,
      secret_hash: device.secretHash,
      first_seen: device.at,
      last_seen: device.at,
    })
    .execute();

export const agentByToken = (tx: SystemTx, tokenHash: string) =>
  tx.selectFrom('agents').select(['id', 'user_id', 'name']).where('token_hash', '=', tokenHash).executeTakeFirst();

export const touchBySecret = (tx: SystemTx, id: string, secretHash: string, at: Date) =>
  tx
    .updateTable('devices')
    .set({ last_seen: at })
    .where('id', '=', id)
    .where('secret_hash', '=', secretHash)
    .returning(['status', 'token_sealed'])
    .executeTakeFirst();
