import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { ImportsService } from './service.ts';

export function importRoutes(server: Server, imports: ImportsService): void {
  serve(server, web.imports.preview, ({ user, query, request }) => imports.preview(user, query, request.bytes));
  serve(server, web.imports.create, ({ user, query, request }) =>
    imports.create(user, query, request.bytes, request.address),
  );
}
