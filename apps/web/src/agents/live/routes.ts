import { web } from '@troupe/contract';
import { eventStream, serve, type Server } from '@troupe/kernel';
import type { LiveService } from './service.ts';

export function liveRoutes(server: Server, live: LiveService): void {
  serve(server, web.live.follow, ({ user, query, request }) => {
    const last = request.headers['last-event-id'];
    return eventStream(live.open(user, query, typeof last === 'string' ? last : undefined, request.signal()));
  });
}
