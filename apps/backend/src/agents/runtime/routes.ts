import { GATEWAY_ENDPOINTS, getInstanceStats, getRuntimeAbilities, listInstances } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { RuntimeService } from './service.ts';

/** `shellOff`: why commands cannot run here. */
export function runtimeRoutes(
  server: Server,
  runtime: RuntimeService,
  shellOff: () => Promise<string | undefined>,
): void {
  serve(server, listInstances, ({ request }) => runtime.instances(actingFor(request)));
  serve(server, getInstanceStats, ({ params, request }) => runtime.stats(params.id, actingFor(request)));
  serve(server, getRuntimeAbilities, async () => ({ shell: { reason: (await shellOff()) ?? null } }));
  server.endpoints.push(...GATEWAY_ENDPOINTS);
}
