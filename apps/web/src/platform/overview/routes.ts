import { getDailyBrief, getMetrics } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { OverviewService } from './service.ts';

export function overviewRoutes(server: Server, overview: OverviewService): void {
  serve(server, getMetrics, ({ user }) => overview.metrics(user));
  serve(server, getDailyBrief, ({ user }) => overview.brief(user));
}
