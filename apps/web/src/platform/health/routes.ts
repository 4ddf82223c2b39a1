import { getHealth } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { HealthService } from './service.ts';

export function healthRoutes(server: Server, health: HealthService): void {
  serve(server, getHealth, () => health.read());
  // The same for load balancers that look at the usual place.
  server.app.get('/health', async () => health.read());
}
