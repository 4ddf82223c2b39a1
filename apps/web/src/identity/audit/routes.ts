import { listAudit } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { AuditService } from './service.ts';

export function auditRoutes(server: Server, audit: AuditService): void {
  serve(server, listAudit, ({ user, query }) => audit.list(user, query));
}
