import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { InstanceService } from './service.ts';

export function instanceRoutes(server: Server, instances: InstanceService): void {
  serve(server, web.instance.act, ({ user, params, body, request }) =>
    instances.act(user, params.userId, params.action, body.image, request.address),
  );
  serve(server, web.instance.get, ({ user, params }) => instances.read(user, params.userId));
  serve(server, web.instance.getStats, ({ user, params, request }) =>
    instances.stats(user, params.userId, request.address),
  );
}
