import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Keys } from './service.ts';

export function keyRoutes(server: Server, keys: Keys): void {
  serve(server, web.keys.list, async ({ user }) => ({ keys: await keys.list(user.id) }));
  serve(server, web.keys.create, ({ user, body, request }) => keys.create(user, body, request.address));
  serve(server, web.keys.get, ({ user, params }) => keys.get(user.id, params.id));
  serve(server, web.keys.remove, async ({ user, params, request }) => {
    await keys.remove(user.id, params.id, request.address);
    return { success: true as const };
  });
  serve(server, web.keys.validate, ({ body }) => keys.validate(body.apiKey));
}
