import type { Audit } from '@troupe/accounts';
import type { Fleet } from '@troupe/fleet';
import type { Roster } from '@troupe/roster';
import { visibleTo } from '../../context.ts';

export interface LifecycleDeps {
  fleet: Fleet;
  roster: Roster;
  version: string;
  audit: Audit;
}

const done = { success: true as const };
const active = { ...done, status: 'active' as const };

export type LifecycleService = ReturnType<typeof createLifecycle>;

/** Everything is about the agent of that id, as the user sees it. */
export function createLifecycle({ fleet, roster, version, audit }: LifecycleDeps) {
  const find = (id: string, userId: string | undefined) => visibleTo(roster, userId).get(id);
  return {
    async start(id: string, userId: string | undefined) {
      await fleet.start(await find(id, userId));
      return active;
    },
    async stop(id: string, userId: string | undefined) {
      await fleet.stop(await find(id, userId));
      return { ...done, status: 'stopped' as const };
    },
    async restart(id: string, userId: string | undefined) {
      const agent = await fleet.restart(await find(id, userId));
      return { ...active, runtimeVersion: agent.runtime_version ?? version };
    },
    async update(id: string, userId: string | undefined, image: string | undefined) {
      const { agent, ...updated } = await fleet.update(await find(id, userId), image);
      return { ...active, ...updated, runtimeVersion: agent.runtime_version ?? version };
    },
    async repair(id: string, userId: string | undefined) {
      await fleet.repair(await find(id, userId));
      return { ...done, message: 'Agent repaired successfully' };
    },
    async rotateToken(id: string, userId: string | undefined, ip: string) {
      const agent = await find(id, userId);
      const { user_id, name } = agent;
      const token = await fleet.rotateToken(agent, (tx) =>
        audit(tx, { userId: user_id, action: 'gateway-token-rotated', detail: { agentId: id, name }, ip }),
      );
      return { ...done, token };
    },
    async resetMemory(id: string, userId: string | undefined) {
      await fleet.resetMemory(await find(id, userId));
      return { ...done, message: 'Memory reset successfully' };
    },
  };
}
