import type { AgentRow } from '@troupe/roster';
import type { Backups } from './backups.ts';
import type { Driver } from './driver.ts';
import type { FleetDeps } from './fleet-deps.ts';
import type { Turn } from './operations.ts';

interface RemovalDeps extends Pick<FleetDeps, 'roster' | 'driver' | 'log'> {
  backups: Backups;
  /** Tells the other processes. */
  tell: (agentId: string) => Promise<void>;
}

export function createRemoval({ roster, driver, log, backups, tell }: RemovalDeps) {
  /** For everybody it is gone with its rows; what an engine that is away still has goes when it is back. */
  async function remove(agent: AgentRow, turn: Turn): Promise<void> {
    await driver.hush?.(agent.id);
    await driver.halt?.(agent.id);
    // The rows first: whatever still works for it finds nothing to write to.
    await roster.delete(agent.id);
    await clearAway(agent, turn);
    await tell(agent.id);
  }

  async function clearAway(agent: Parameters<Driver['remove']>[0], { later }: Turn): Promise<void> {
    await backups.removeAll(agent.id);
    await driver.remove(agent).catch((err: unknown) => {
      log.warn({ err, agentId: agent.id }, 'a removed agent is cleared away later');
      later();
    });
  }

  return { remove, clearAway };
}
export type Removal = ReturnType<typeof createRemoval>;
