import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { MarksService } from './marks.ts';
import type { InboxService } from './service.ts';
import type { SeveralService } from './several.ts';

export function inboxRoutes(
  server: Server,
  { inbox, marks, several }: { inbox: InboxService; marks: MarksService; several: SeveralService },
): void {
  serve(server, web.inbox.get, async ({ user, request }) => {
    const [waiting, marked] = await Promise.all([inbox.read(user, request.address), marks.list(user.id)]);
    return { ...waiting, marks: marked };
  });
  serve(server, web.inbox.put, ({ user, params, body }) => marks.put(user.id, params.item, body));
  serve(server, web.inbox.putSeveral, ({ user, body: { items, ...mark } }) => marks.putAll(user.id, items, mark));
  serve(server, web.inbox.decide, ({ user, body, request }) => several.decide(user, body, request.address));
  serve(server, web.inbox.remove, ({ user, params }) => marks.remove(user.id, params.item));
}
