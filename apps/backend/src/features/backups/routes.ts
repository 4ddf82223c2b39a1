import { open } from 'node:fs/promises';
import {
  createBackendBackup,
  deleteBackendBackup,
  downloadBackendBackup,
  listBackendBackups,
  restoreBackendBackup,
  type AgentBackup,
} from '@troupe/contract';
import { BACKUPS_KEPT } from '@troupe/domain';
import type { BackupRow, Fleet } from '@troupe/fleet';
import { AppError, iso, respond, serve, type RequestInfo, type Server } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { actingFor, visibleTo } from '../../context.ts';

const shown = ({ id, created_at, size, reason, image, version }: BackupRow): AgentBackup => ({
  id,
  createdAt: iso(created_at),
  size: Number(size),
  reason,
  image,
  version,
});

export function backupRoutes(server: Server, { fleet, roster }: { fleet: Fleet; roster: Roster }): void {
  const find = (params: { id: string }, request: RequestInfo) => visibleTo(roster, actingFor(request)).get(params.id);
  const done = { success: true as const };

  serve(server, createBackendBackup, async ({ params, request }) => ({
    ...done,
    backup: shown(await fleet.backUp(await find(params, request))),
  }));
  serve(server, listBackendBackups, async ({ params, request }) => {
    const backups = (await fleet.backups.list(await find(params, request))).map(shown);
    return { backups, count: backups.length, limit: BACKUPS_KEPT.manual };
  });
  serve(server, restoreBackendBackup, async ({ params, request }) => {
    const { agent, safety } = await fleet.restore(await find(params, request), params.backupId);
    return { ...done, restored: params.backupId, safetyBackupId: safety.id, status: agent.status };
  });
  serve(server, deleteBackendBackup, async ({ params, request }) => {
    await fleet.deleteBackup(await find(params, request), params.backupId);
    return { ...done, deleted: params.backupId };
  });
  serve(server, downloadBackendBackup, async ({ params, request }) => {
    const backup = await fleet.backups.get(await find(params, request), params.backupId);
    const file = await open(fleet.backups.fileOf(backup)).catch((cause: unknown) => {
      throw new AppError(404, 'Backup not found', {}, { cause });
    });
    const { size } = await file.stat();
    return respond({
      headers: { 'content-type': 'application/gzip', 'content-length': String(size) },
      stream: file.createReadStream(),
    });
  });
}
