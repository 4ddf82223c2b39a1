import { Readable } from 'node:stream';
import type { AgentBackup } from '@troupe/contract';
import { BACKUPS_KEPT, definitionSchema, type AgentDefinition } from '@troupe/domain';
import type { BackupRow, Fleet } from '@troupe/fleet';
import { iso } from '@troupe/kernel';
import type { AgentRow, Roster } from '@troupe/roster';
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
export function createBackupService({
  fleet,
  roster,
  gate,
}: {
  fleet: Fleet;
  roster: Roster;
  gate: { checkWhole: (agent: AgentRow, definition: AgentDefinition) => Promise<void> };
}) {
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
    async restore(agentId: string, userId: string | undefined, backupId: string, force: boolean) {
      const row = await find(agentId, userId);
      if (!force) {
        const { definition } = fleet.backups.settingsOf(await fleet.backups.get(row, backupId));
        await gate.checkWhole(row, definitionSchema.parse(definition));
      }
      const { agent, safety } = await fleet.restore(row, backupId);
      return { ...done, restored: backupId, safetyBackupId: safety.id, status: agent.status };
    },
    async remove(agentId: string, userId: string | undefined, backupId: string) {
      await fleet.deleteBackup(await find(agentId, userId), backupId);
      return { ...done, deleted: backupId };
    },
    async read(agentId: string, userId: string | undefined, backupId: string) {
      const backup = await fleet.backups.get(await find(agentId, userId), backupId);
      const { size, stream } = await fleet.backups.read(backup);
      return { size, stream: Readable.from(stream, { objectMode: false }) };
    },
  };
}
