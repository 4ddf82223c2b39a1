import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { web } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { BackupsService } from './service.ts';

export function backupRoutes(server: Server, backups: BackupsService): void {
  serve(server, web.backups.create, ({ user, params, request }) => backups.make(user, params.id, request.address));
  serve(server, web.backups.list, ({ user, params, request }) => backups.list(user, params.id, request.address));
  serve(server, web.backups.restore, ({ user, params, query, request }) =>
    backups.restore(user, params.id, params.backupId, query.force, request.address),
  );
  serve(server, web.backups.remove, ({ user, params, request }) =>
    backups.remove(user, params.id, params.backupId, request.address),
  );
  serve(server, web.backups.download, async ({ user, params, request }) => {
    const { id, backupId } = params;
    const file = await backups.download(user, id, backupId, request.address, request.signal());
    return respond({
      headers: {
        'content-type': 'application/gzip',
        'content-length': file.headers.get('content-length') ?? '0',
        'content-disposition': `attachment; filename="agent-backup-${backupId}.tar.gz"`,
      },
      stream: Readable.fromWeb(file.body as ReadableStream),
    });
  });
}
