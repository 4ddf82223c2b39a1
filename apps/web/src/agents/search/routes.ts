import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { SearchService } from './service.ts';

export function searchRoutes(server: Server, search: SearchService): void {
  serve(server, web.search.get, ({ user, query, request }) => search.find(user, query.q, request.address));
}
