import { gateway, GATEWAY_ENDPOINTS, backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { Resource } from './resource.ts';
import type { RuntimeService } from './service.ts';

interface RouteDeps {
  runtime: RuntimeService;
  resource: Resource;
  /** Why commands cannot run here. */
  shellOff: () => Promise<string | undefined>;
  /** Why there is no browser here. */
  browserOff: () => Promise<string | undefined>;
}

export function runtimeRoutes(server: Server, { runtime, resource, shellOff, browserOff }: RouteDeps): void {
  serve(server, backend.runtime.list, ({ request, query }) => runtime.instances(actingFor(request), query));
  serve(server, backend.runtime.getStats, ({ params, request }) => runtime.stats(params.id, actingFor(request)));
  serve(server, backend.runtime.getAbilities, async () => ({
    shell: { reason: (await shellOff()) ?? null },
    browser: { reason: (await browserOff()) ?? null },
  }));
  // Where clients look that were not told: the well-known part comes before the path.
  serve(server, gateway.runtime.getMcpMetadata, ({ params, request }) => resource.described(request, params.agentId));
  server.endpoints.push(...GATEWAY_ENDPOINTS);
}
