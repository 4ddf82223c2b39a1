import { backend } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { BackupService } from './service.ts';

export function backupRoutes(server: Server, backups: BackupService): void {
  serve(server, backend.backups.create, ({ params, request }) => backups.create(params.id, actingFor(request)));
  serve(server, backend.backups.list, ({ params, request }) => backups.list(params.id, actingFor(request)));
  serve(server, backend.backups.restore, ({ params, query, request }) =>
    backups.restore(params.id, actingFor(request), params.backupId, query.force),
  );
  serve(server, backend.backups.remove, ({ params, request }) =>
    backups.remove(params.id, actingFor(request), params.backupId),
  );
  serve(server, backend.backups.download, async ({ params, request }) => {
    const { size, stream } = await backups.read(params.id, actingFor(request), params.backupId);
    return respond({ headers: { 'content-type': 'application/gzip', 'content-length': String(size) }, stream });
  });
}
