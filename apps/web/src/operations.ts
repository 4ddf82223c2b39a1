import { APPLY_CONFIG_QUEUE } from '@troupe/domain';
import { createCipher, type BackendClient, type Server } from '@troupe/kernel';
import type { WebDeps } from './deps.ts';
import { configRoutes } from './features/config/routes.ts';
import { createConfig } from './features/config/service.ts';
import { deviceRoutes } from './features/devices/routes.ts';
import { createDevices } from './features/devices/service.ts';
import type { HealthService } from './features/health/service.ts';
import { installationRoutes } from './features/installations/routes.ts';
import { noticeRoutes } from './features/notices/routes.ts';
import { createNotices } from './features/notices/service.ts';
import { overviewRoutes } from './features/overview/routes.ts';
import { createOverview } from './features/overview/service.ts';
import { taskRoutes } from './features/tasks/routes.ts';
import { undergroundRoutes } from './features/underground/routes.ts';
import { createTasks } from './features/tasks/service.ts';

export interface OperationsDeps extends WebDeps {
  backend: BackendClient;
  health: HealthService;
}

/** What keeps agents running: configuration, devices, schedules, notices, installations, the daily view. */
export function operationsRoutes(
  server: Server,
  { db, clock, jobs, listener, secrets, backend, health }: OperationsDeps,
): void {
  jobs.define(APPLY_CONFIG_QUEUE);
  configRoutes(server, createConfig({ db, clock, jobs }));
  deviceRoutes(server, createDevices({ db, clock, cipher: createCipher(secrets.walletKey, 'devices') }));
  taskRoutes(server, createTasks({ db, clock }));
  noticeRoutes(server, createNotices({ db, clock, listener }));
  installationRoutes(server, backend);
  undergroundRoutes(server, backend);
  overviewRoutes(server, createOverview({ db, clock, health: () => health.read() }));
}
