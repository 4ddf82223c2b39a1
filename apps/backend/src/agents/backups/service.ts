import { open } from 'node:fs/promises';
import type { AgentBackup } from '@troupe/contract';
import { BACKUPS_KEPT } from '@troupe/domain';
import type { BackupRow, Fleet } from '@troupe/fleet';
import { AppError, iso } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { visibleTo } from '../../context.ts';

const shown = ({ id, created_at, size, reason, image, version }: BackupRow): AgentBackup => ({
  id,
  createdAt: iso(created_at),
  size: Number(size),
  reason,
  image,
  version,
});

const done = { success: true as const };

export type BackupService = ReturnType<typeof createBackupService>;

/** Everything is about the agent of that id, as the user sees it. */
export function createBackupService({ fleet, roster }: { fleet: Fleet; roster: Roster }) {
  const find = (agentId: string, userId: string | undefined) => visibleTo(roster, userId).get(agentId);
  return {
    create: async (agentId: string, userId: string | undefined) => ({
      ...done,
      backup: shown(await fleet.backUp(await find(agentId, userId))),
    }),
    async list(agentId: string, userId: string | undefined) {
      const backups = (await fleet.backups.list(await find(agentId, userId))).map(shown);
      return { backups, count: backups.length, limit: BACKUPS_KEPT.manual };
    },
    async restore(agentId: string, userId: string | undefined, backupId: string) {
      const { agent, safety } = await fleet.restore(await find(agentId, userId), backupId);
      return { ...done, restored: backupId, safetyBackupId: safety.id, status: agent.status };
    },
    async remove(agentId: string, userId: string | undefined, backupId: string) {
      await fleet.deleteBackup(await find(agentId, userId), backupId);
      return { ...done, deleted: backupId };
    },
    async read(agentId: string, userId: string | undefined, backupId: string) {
      const backup = await fleet.backups.get(await find(agentId, userId), backupId);
      const file = await open(fleet.backups.fileOf(backup)).catch((cause: unknown) => {
        throw new AppError(404, 'Backup not found', {}, { cause });
      });
      const { size } = await file.stat();
      return { size, stream: file.createReadStream() };
    },
  };
}
