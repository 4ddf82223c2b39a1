import {
  repairAgent,
  resetAgentMemory,
  restartAgent,
  rotateBackendToken,
  startAgent,
  stopAgent,
  updateAgentImage,
} from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { LifecycleService } from './service.ts';

export function lifecycleRoutes(server: Server, lifecycle: LifecycleService): void {
  serve(server, startAgent, ({ params, request }) => lifecycle.start(params.id, actingFor(request)));
  serve(server, stopAgent, ({ params, request }) => lifecycle.stop(params.id, actingFor(request)));
  serve(server, restartAgent, ({ params, request }) => lifecycle.restart(params.id, actingFor(request)));
  serve(server, updateAgentImage, ({ params, request, body }) =>
    lifecycle.update(params.id, actingFor(request), body.image),
  );
  serve(server, repairAgent, ({ params, request }) => lifecycle.repair(params.id, actingFor(request)));
  serve(server, rotateBackendToken, ({ params, request }) =>
    lifecycle.rotateToken(params.id, actingFor(request), request.address),
  );
  serve(server, resetAgentMemory, ({ params, request }) => lifecycle.resetMemory(params.id, actingFor(request)));
}
