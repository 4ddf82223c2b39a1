import { getInstance, getInstanceFigures, instanceAction } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { InstanceService } from './service.ts';

export function instanceRoutes(server: Server, instances: InstanceService): void {
  serve(server, instanceAction, ({ user, params, body, request }) =>
    instances.act(user, params.userId, params.action, body.image, request.address),
  );
  serve(server, getInstance, ({ user, params }) => instances.read(user, params.userId));
  serve(server, getInstanceFigures, ({ user, params, request }) =>
    instances.stats(user, params.userId, request.address),
  );
}
