import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { LifecycleService } from './service.ts';

export function lifecycleRoutes(server: Server, lifecycle: LifecycleService): void {
  serve(server, backend.lifecycle.start, ({ params, request }) => lifecycle.start(params.id, actingFor(request)));
  serve(server, backend.lifecycle.stop, ({ params, request }) => lifecycle.stop(params.id, actingFor(request)));
  serve(server, backend.lifecycle.restart, ({ params, request }) => lifecycle.restart(params.id, actingFor(request)));
  serve(server, backend.lifecycle.updateImage, ({ params, request, body }) =>
    lifecycle.update(params.id, actingFor(request), body.image),
  );
  serve(server, backend.lifecycle.repair, ({ params, request }) => lifecycle.repair(params.id, actingFor(request)));
  serve(server, backend.lifecycle.rotateToken, ({ params, request }) =>
    lifecycle.rotateToken(params.id, actingFor(request), request.address),
  );
  serve(server, backend.lifecycle.resetMemory, ({ params, request }) =>
    lifecycle.resetMemory(params.id, actingFor(request)),
  );
}
