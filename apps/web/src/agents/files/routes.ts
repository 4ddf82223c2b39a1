import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { FilesService } from './service.ts';

export function fileRoutes(server: Server, files: FilesService): void {
  serve(server, web.files.list, ({ user, params, query, request }) =>
    files.list(user, params.id, query.path, request.address),
  );
  serve(server, web.files.read, ({ user, params, query, request }) =>
    files.read(user, params.id, query.path, query.show === 'true', request.address, request.signal()),
  );
  serve(server, web.files.preview, ({ user, params, query, request }) =>
    files.preview(user, params.id, query.path, request.address),
  );
  serve(server, web.files.pack, ({ user, params, query, request }) =>
    files.pack(user, params.id, query.path, request.address, request.signal()),
  );
  serve(server, web.files.put, ({ user, params, query, request }) =>
    files.put(user, params.id, query, request.bytes, request.address),
  );
  serve(server, web.files.remove, ({ user, params, query, request }) =>
    files.remove(user, params.id, query.path, query.force, request.address),
  );
}
