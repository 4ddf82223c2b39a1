import { AGENT_NOT_FOUND } from '@troupe/contract';
import type { Database } from '@troupe/db';
import type { Roster } from '@troupe/roster';
import { AppError, isoOrNull, type Clock, type User } from '@troupe/kernel';
import { findHeartbeat, putHeartbeat, removeHeartbeat } from './store.ts';

export interface HeartbeatDeps {
  db: Database;
  roster: Roster;
  clock: Clock;
}

export type HeartbeatService = ReturnType<typeof createHeartbeats>;

const UNIT_SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };
const DEFAULT_FREQUENCY = '3h';

const secondsOf = (frequency: string): number =>
  Number.parseInt(frequency, 10) * (UNIT_SECONDS[frequency.slice(-1)] ?? 3600);

/** The scheduler reads these rows and wakes the agents. */
export function createHeartbeats({ db, roster, clock }: HeartbeatDeps) {
  async function read(userId: string, agentId: string) {
    const row = await findHeartbeat(db.user(userId), agentId);
    return {
      heartbeat: {
        frequency: row?.frequency ?? DEFAULT_FREQUENCY,
        enabled: row?.enabled ?? false,
        lastHeartbeat: isoOrNull(row?.last_heartbeat ?? null),
        nextHeartbeat: row?.enabled ? isoOrNull(row.next_heartbeat) : null,
      },
    };
  }

  return {
    async get(user: User, agentId: string) {
      await roster.of(user.id).get(agentId);
      return read(user.id, agentId);
    },
    async set(user: User, { agentId, frequency, enabled }: { agentId: string; frequency: string; enabled: boolean }) {
      await roster.of(user.id).get(agentId);
      const seconds = secondsOf(frequency);
      const next = new Date(clock().getTime() + seconds * 1000);
      const kept = await putHeartbeat(db.user(user.id), {
        agentId,
        userId: user.id,
        frequency,
        seconds,
        enabled,
        next,
      });
      if (!kept) throw new AppError(404, AGENT_NOT_FOUND);
      return { success: true as const, ...(await read(user.id, agentId)) };
    },
    async remove(user: User, agentId: string) {
      await roster.of(user.id).get(agentId);
      await removeHeartbeat(db.user(user.id), agentId);
      return { success: true as const };
    },
  };
}
