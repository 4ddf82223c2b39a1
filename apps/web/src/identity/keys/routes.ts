import { createKey, deleteKey, getKey, listKeys, validateKey } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Keys } from './service.ts';

export function keyRoutes(server: Server, keys: Keys): void {
  serve(server, listKeys, async ({ user }) => ({ keys: await keys.list(user.id) }));
  serve(server, createKey, ({ user, body, request }) => keys.create(user, body, request.address));
  serve(server, getKey, ({ user, params }) => keys.get(user.id, params.id));
  serve(server, deleteKey, async ({ user, params, request }) => {
    await keys.remove(user.id, params.id, request.address);
    return { success: true as const };
  });
  serve(server, validateKey, ({ body }) => keys.validate(body.apiKey));
}
