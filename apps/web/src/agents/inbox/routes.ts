import { getInbox } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { InboxService } from './service.ts';

export function inboxRoutes(server: Server, inbox: InboxService): void {
  serve(server, getInbox, ({ user, request }) => inbox.read(user, request.address));
}
