import type { Backups } from './backups.ts';
import type { FleetDeps } from './fleet-deps.ts';
import type { Life } from './life.ts';
import type { Turn } from './operations.ts';
import type { Removal } from './removal.ts';
import { RESTORE, type Reverting } from './reverting.ts';

export const ROTATE = 'rotate';
/** Actions that have changed nothing yet, but may have held the agent still. */
const COPIES = new Set(['backup', 'restore', 'delete-backup', 'look']);

interface Parts extends Pick<FleetDeps, 'roster' | 'driver'> {
  backups: Backups;
  life: Life;
  reverting: Reverting;
  removal: Removal;
}

/** What a process that died was doing. The row still says the old image, so an update that was cut short is undone. */
export async function redo(
  { roster, driver, backups, life, reverting, removal }: Parts,
  agentId: string,
  action: string,
  turn: Turn,
): Promise<void> {
  const agent = await roster.find(agentId);
  await backups.sweep(agentId, agent?.user_id);
  if (!agent) return removal.clearAway({ id: agentId }, turn);
  if (action === 'remove') return removal.remove(agent, turn);
  if (action === 'stop') return void (await life.stop(agent));
  if (action === 'reset-memory') return driver.reset(agent);
  if (action === ROTATE) return agent.status === 'running' ? void (await life.again(agent)) : undefined;
  if (action.startsWith(RESTORE)) {
    const backup = await backups.get(agent, action.slice(RESTORE.length));
    await backups.check(backup);
    return void (await reverting.putBack(agent, backup));
  }
  if (COPIES.has(action)) return agent.status === 'running' ? void (await life.bringUp(agent)) : undefined;
  await life.again(agent);
}
