import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { InboxService } from './service.ts';

export function inboxRoutes(server: Server, inbox: InboxService): void {
  serve(server, web.inbox.get, ({ user, request }) => inbox.read(user, request.address));
}
