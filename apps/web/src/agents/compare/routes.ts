import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { CompareService } from './service.ts';

export function compareRoutes(server: Server, compare: CompareService): void {
  serve(server, web.compare.start, ({ user, body, request }) => compare.start(user, body, request.address));
}
