import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { ChannelsService } from './service.ts';

export function channelRoutes(server: Server, channels: ChannelsService): void {
  serve(server, backend.channels.list, ({ params, request }) => channels.list(params.id, actingFor(request)));
  serve(server, backend.channels.set, ({ params, body, request }) =>
    channels.set(params.id, actingFor(request), params.kind, body),
  );
  serve(server, backend.channels.remove, ({ params, request }) =>
    channels.remove(params.id, actingFor(request), params.kind),
  );
  serve(server, backend.channels.test, ({ params, body, request }) =>
    channels.test(params.id, actingFor(request), params.kind, body.to),
  );
}
