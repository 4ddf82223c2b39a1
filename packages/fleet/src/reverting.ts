import { AppError } from '@troupe/kernel';
import type { AgentRow } from '@troupe/roster';
import type { BackupRow, Backups } from './backups.ts';
import type { FleetDeps } from './fleet-deps.ts';
import { fresh, RUNNING, type Life } from './life.ts';
import type { Turn } from './operations.ts';

/** The action of a restore that has begun to change something; the backup's id follows. */
export const RESTORE = 'restore ';

export interface Updated {
  image: string;
  previousImage: string;
  backupPath: string;
  agent: AgentRow;
}

interface RevertingDeps extends Pick<FleetDeps, 'roster' | 'driver' | 'clock' | 'log'> {
  backups: Backups;
  life: Life;
}

const reason = (error: unknown, otherwise: string): string => (error instanceof AppError ? error.message : otherwise);

/** Changes that are undone when they fail: what was there before is in a backup. */
export function createReverting({ roster, driver, clock, log, backups, life }: RevertingDeps) {
  async function update(agent: AgentRow, given?: string): Promise<Updated> {
    const previousImage = agent.image ?? driver.image;
    const image = given ?? driver.image;
    const backupPath = backups.nameOf(await backups.make(agent, 'update'));
    await backups.prune(agent);
    try {
      const refused = driver.refuses?.(image);
      if (refused !== undefined) throw new AppError(500, refused);
      await life.takeDown(agent);
      const placement = await driver.start({ ...agent, image });
      const started = { ...RUNNING, image, runtime_version: placement.version, started_at: clock() };
      const changed = await roster.change(agent.id, started);
      return { image, previousImage, backupPath, agent: changed };
    } catch (error) {
      log.error({ err: error, agentId: agent.id, image }, 'an update failed; the previous image comes back');
      const why = reason(error, 'the new image did not start');
      await life.bringUp(fresh(agent)).catch((cause: unknown) => {
        const still = reason(cause, 'it did not start');
        throw new AppError(500, `Update failed: ${why}. The previous image could not be started: ${still}`, {
          backupPath,
        });
      });
      throw new AppError(500, `Update failed, the previous image is running again: ${why}`, { backupPath });
    }
  }

  async function restore(agent: AgentRow, backupId: string, { become }: Turn) {
    const backup = await backups.get(agent, backupId);
    await backups.check(backup);
    const safety = await backups.make(agent, 'restore');
    await become(`${RESTORE}${backupId}`);
    try {
      const restored = await putBack(agent, backup);
      await backups.prune(agent, backupId);
      return { agent: restored, safety };
    } catch (error) {
      log.error({ err: error, agentId: agent.id, backupId }, 'a restore failed; what was there before comes back');
      await putBack(agent, safety);
      const why = reason(error, 'the backup could not be read');
      throw new AppError(500, `Restore failed, the agent is as it was: ${why}`, {}, { cause: error });
    }
  }

  /** It runs afterwards if it did before. */
  async function putBack(agent: AgentRow, backup: BackupRow): Promise<AgentRow> {
    await life.takeDown(agent);
    await backups.use(backup, (file) => driver.restore(agent, file));
    const changed = await roster.revert(agent, backups.settingsOf(backup));
    if (changed.status !== 'running') return changed;
    const { agent: running } = await life.bringUp(fresh(changed));
    await driver.configure(running, await roster.definition(running));
    return running;
  }

  return { update, restore, putBack };
}
export type Reverting = ReturnType<typeof createReverting>;
