import { raiseNotice, settleNotice } from '@troupe/accounts';
import type { Device } from '@troupe/contract';
import type { Database, UserTx } from '@troupe/db';
import { AppError, iso, newId, randomHex, sha256Hex, type Cipher, type Clock } from '@troupe/kernel';
import * as store from './store.ts';

export interface DevicesDeps {
  db: Database;
  clock: Clock;
  cipher: Cipher;
}

export type DevicesService = ReturnType<typeof createDevices>;

const TOKEN_BYTES = 32;
const NEXT = {
  approve: { from: 'pending', to: 'approved' },
  deny: { from: 'pending', to: 'denied' },
  revoke: { from: 'approved', to: 'revoked' },
} as const;

type Row = Awaited<ReturnType<typeof store.changeStatus>>;

const shown = ({ id, name, agent_id, ip, status, first_seen, last_seen }: Row): Device => ({
  id,
  name,
  agentId: agent_id,
  ip,
  status,
  firstSeen: iso(first_seen),
  lastSeen: iso(last_seen),
});

async function lists(tx: UserTx) {
  const pending = await store.listByStatus(tx, 'pending');
  const approved = await store.listByStatus(tx, 'approved');
  return { pending: pending.map(shown), approved: approved.map(shown) };
}

export function createDevices({ db, clock, cipher }: DevicesDeps) {
  /** Only an approved device has a token. */
  function tokenOf(id: string, status: string) {
    if (status !== 'approved') return { tokenHash: null, tokenSealed: null };
    const token = randomHex(TOKEN_BYTES);
    return { tokenHash: sha256Hex(token), tokenSealed: cipher.seal(token, `device:${id}`) };
  }

  return {
    list: (owner: string) => db.asUser(owner, lists),

    change: (owner: string, deviceId: string, action: keyof typeof NEXT) =>
      db.asUser(owner, async (tx) => {
        const found = await store.lockDevice(tx, deviceId);
        if (!found) throw new AppError(404, 'Device not found');
        const { from, to } = NEXT[action];
        if (found.status !== from) throw new AppError(400, `Device is not ${from}`);
        const device = await store.changeStatus(tx, deviceId, { status: to, ...tokenOf(deviceId, to) });
        if (from === 'pending') await settleNotice(tx, { kind: 'device_waiting', subject: deviceId }, clock());
        return { success: true as const, device: shown(device), ...(await lists(tx)) };
      }),

    async pair(gatewayToken: string | null, name: string, ip: string) {
      const agent = gatewayToken ? await store.agentByToken(db.system, sha256Hex(gatewayToken)) : undefined;
      if (!agent) throw new AppError(401, 'Invalid gateway token');
      const deviceId = newId();
      const deviceSecret = randomHex(TOKEN_BYTES);
      await db.asSystem(async (tx) => {
        await store.insertDevice(tx, {
          id: deviceId,
          userId: agent.user_id,
          agentId: agent.id,
          name,
          ip,
          secretHash: sha256Hex(deviceSecret),
          at: clock(),
        });
        await raiseNotice(
          tx,
          {
            userId: agent.user_id,
            kind: 'device_waiting',
            subject: deviceId,
            message: `${name} asks to be paired with ${agent.name}`,
            link: '/dashboard/devices',
          },
          clock(),
        );
      });
      return { deviceId, deviceSecret };
    },

    async pairing(deviceId: string, secret: string | null) {
      const device = secret ? await store.touchBySecret(db.system, deviceId, sha256Hex(secret), clock()) : undefined;
      if (!device) throw new AppError(401, 'Invalid device secret');
      const token = device.token_sealed ? cipher.open(device.token_sealed, `device:${deviceId}`) : undefined;
      return { status: device.status, ...(token === undefined ? {} : { token }) };
    },
  };
}
