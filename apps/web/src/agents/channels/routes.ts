import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { ChannelsService } from './service.ts';

export function channelRoutes(server: Server, channels: ChannelsService): void {
  serve(server, web.channels.list, ({ user, params, request }) => channels.list(user, params.id, request.address));
  serve(server, web.channels.set, ({ user, params, body, request }) =>
    channels.set(user, params, body, request.address),
  );
  serve(server, web.channels.remove, ({ user, params, request }) => channels.remove(user, params, request.address));
  serve(server, web.channels.test, ({ user, params, body, request }) =>
    channels.test(user, params, body, request.address),
  );
}
