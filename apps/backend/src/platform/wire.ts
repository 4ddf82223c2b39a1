import type { Server } from '@troupe/kernel';
import type { BackendDeps } from '../deps.ts';
import { createFigures, type FiguresService } from './figures/service.ts';
import { healthRoutes } from './health/routes.ts';
import { infraRoutes } from './infra/routes.ts';
import { createInfra } from './infra/service.ts';

/** Wires what belongs to no area. */
export function wirePlatform(server: Server, { clock, db, jobs }: BackendDeps): void {
  const figures: FiguresService = createFigures({ db, jobs });
  figures.tellBy(server.metrics);
  healthRoutes(server, clock);
  infraRoutes(server, createInfra(clock));
}
