import { web } from '@troupe/contract';
import { iso, serve, type Clock, type Server } from '@troupe/kernel';
import type { HealthService } from './service.ts';

export function healthRoutes(server: Server, health: HealthService, clock: Clock): void {
  serve(server, web.health.get, () => health.read());
  // At the usual place: whether this process is alive, whatever it stands on. /ready says whether it can work.
  server.app.get('/health', async () => ({ status: 'ok', timestamp: iso(clock()) }));
}
