import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { AuditService } from './service.ts';

export function auditRoutes(server: Server, audit: AuditService): void {
  serve(server, web.audit.list, ({ user, query }) => audit.list(user, query));
}
