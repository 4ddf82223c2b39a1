import { web } from '@troupe/contract';
import { eventStream, serve, type Server } from '@troupe/kernel';
import type { NoticesService } from './service.ts';

export function noticeRoutes(server: Server, notices: NoticesService): void {
  serve(server, web.notices.list, ({ user, query, request }) => {
    if (!String(request.headers['accept']).includes('text/event-stream')) return notices.list(user.id, query.limit);
    const lastSeen = request.headers['last-event-id'];
    return eventStream(notices.stream(user, typeof lastSeen === 'string' ? lastSeen : undefined, request.signal()));
  });
  serve(server, web.notices.read, ({ user, body }) => notices.read(user.id, body.ids));
}
