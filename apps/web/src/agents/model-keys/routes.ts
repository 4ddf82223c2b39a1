import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { ModelKeysService } from './service.ts';

export function modelKeyRoutes(server: Server, keys: ModelKeysService): void {
  serve(server, web.modelKeys.list, ({ user }) => keys.list(user));
  serve(server, web.modelKeys.give, ({ user, body, request }) => keys.give(user, body, request.address));
  serve(server, web.modelKeys.share, ({ user, body, request }) => keys.share(user, body, request.address));
  serve(server, web.modelKeys.take, ({ user, body, request }) => keys.take(user, body, request.address));
  serve(server, web.modelKeys.test, ({ user, body }) => keys.test(user, body));
}
