import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { MarksService } from './marks.ts';
import type { InboxService } from './service.ts';

export function inboxRoutes(server: Server, inbox: InboxService, marks: MarksService): void {
  serve(server, web.inbox.get, async ({ user, request }) => {
    const [waiting, marked] = await Promise.all([inbox.read(user, request.address), marks.list(user.id)]);
    return { ...waiting, marks: marked };
  });
  serve(server, web.inbox.put, ({ user, params, body }) => marks.put(user.id, params.item, body));
  serve(server, web.inbox.remove, ({ user, params }) => marks.remove(user.id, params.item));
}
