import { backend } from '@troupe/contract';
import { iso, serve, type Clock, type Server } from '@troupe/kernel';

export function healthRoutes(server: Server, clock: Clock): void {
  const { AGENT_DRIVER, PROVISIONING_DISABLED } = server.settings;
  serve(server, backend.health.get, () => ({
    status: 'ok' as const,
    timestamp: iso(clock()),
    driver: AGENT_DRIVER,
    provisioning: PROVISIONING_DISABLED ? ('disabled' as const) : ('enabled' as const),
  }));
}
