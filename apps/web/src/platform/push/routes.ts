import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { PushService } from './service.ts';

export function pushRoutes(server: Server, push: PushService): void {
  serve(server, web.push.get, ({ user }) => push.get(user.id));
  serve(server, web.push.subscribe, ({ user, body }) => push.subscribe(user.id, body));
  serve(server, web.push.unsubscribe, ({ user, params }) => push.unsubscribe(user.id, params.id));
  serve(server, web.push.test, ({ user }) => push.test(user.id));
}
