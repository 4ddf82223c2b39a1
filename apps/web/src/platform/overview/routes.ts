import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { OverviewService } from './service.ts';

export function overviewRoutes(server: Server, overview: OverviewService): void {
  serve(server, web.overview.getMetrics, ({ user }) => overview.metrics(user));
  serve(server, web.overview.getBrief, ({ user }) => overview.brief(user));
}
