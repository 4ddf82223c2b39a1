import {
  createBackendBackup,
  deleteBackendBackup,
  downloadBackendBackup,
  listBackendBackups,
  restoreBackendBackup,
} from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { BackupService } from './service.ts';

export function backupRoutes(server: Server, backups: BackupService): void {
  serve(server, createBackendBackup, ({ params, request }) => backups.create(params.id, actingFor(request)));
  serve(server, listBackendBackups, ({ params, request }) => backups.list(params.id, actingFor(request)));
  serve(server, restoreBackendBackup, ({ params, request }) =>
    backups.restore(params.id, actingFor(request), params.backupId),
  );
  serve(server, deleteBackendBackup, ({ params, request }) =>
    backups.remove(params.id, actingFor(request), params.backupId),
  );
  serve(server, downloadBackendBackup, async ({ params, request }) => {
    const { size, stream } = await backups.read(params.id, actingFor(request), params.backupId);
    return respond({ headers: { 'content-type': 'application/gzip', 'content-length': String(size) }, stream });
  });
}
