import { listNotices, readNotices } from '@troupe/contract';
import { eventStream, serve, type Server } from '@troupe/kernel';
import type { NoticesService } from './service.ts';

export function noticeRoutes(server: Server, notices: NoticesService): void {
  serve(server, listNotices, ({ user, query, request }) => {
    if (!String(request.headers['accept']).includes('text/event-stream')) return notices.list(user.id, query.limit);
    const lastSeen = request.headers['last-event-id'];
    return eventStream(notices.stream(user, typeof lastSeen === 'string' ? lastSeen : undefined, request.signal()));
  });
  serve(server, readNotices, ({ user, body }) => notices.read(user.id, body.ids));
}
