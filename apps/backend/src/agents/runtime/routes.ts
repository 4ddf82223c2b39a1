import {
  agentResourceMetadata,
  GATEWAY_ENDPOINTS,
  getInstanceStats,
  getRuntimeAbilities,
  listInstances,
} from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { Resource } from './resource.ts';
import type { RuntimeService } from './service.ts';

interface RouteDeps {
  runtime: RuntimeService;
  resource: Resource;
  /** Why commands cannot run here. */
  shellOff: () => Promise<string | undefined>;
}

export function runtimeRoutes(server: Server, { runtime, resource, shellOff }: RouteDeps): void {
  serve(server, listInstances, ({ request }) => runtime.instances(actingFor(request)));
  serve(server, getInstanceStats, ({ params, request }) => runtime.stats(params.id, actingFor(request)));
  serve(server, getRuntimeAbilities, async () => ({ shell: { reason: (await shellOff()) ?? null } }));
  // Where clients look that were not told: the well-known part comes before the path.
  serve(server, agentResourceMetadata, ({ params, request }) => resource.described(request, params.agentId));
  server.endpoints.push(...GATEWAY_ENDPOINTS);
}
