import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { BackgroundService } from './service.ts';

export function backgroundRoutes(server: Server, background: BackgroundService): void {
  serve(server, web.background.list, ({ user, params, query, request }) =>
    background.list(user, params.id, query, request.address),
  );
  serve(server, web.background.get, ({ user, params, request }) =>
    background.get(user, params.id, params.taskId, request.address),
  );
  serve(server, web.background.stop, ({ user, params, request }) =>
    background.stop(user, params.id, params.taskId, request.address),
  );
}
