import {
  costDashboard,
  getCaps,
  putCap,
  usageByAgent,
  usageByModel,
  usageDaily,
  usageSummary,
  usageTools,
} from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Usage } from './service.ts';

const listed = <T>(rows: T[], days: number) => ({ rows, count: rows.length, days });

export function usageRoutes(server: Server, usage: Usage): void {
  const { queries } = usage;
  serve(server, usageSummary, async ({ user, query: { days, agentId } }) =>
    listed(await queries.summary(user.id, days, agentId), days),
  );
  serve(server, usageByAgent, async ({ user, params, query: { days } }) => {
    const rows = await queries.byAgent(user.id, params.agentId, days);
    return listed(
      rows.map(({ calls, ...row }) => ({ ...row, events: calls })),
      days,
    );
  });
  serve(server, usageByModel, async ({ user, query: { days } }) => {
    const rows = await queries.byModel(user.id, days);
    return listed(
      rows.map(({ calls, ...row }) => ({ ...row, turns: calls })),
      days,
    );
  });
  serve(server, usageDaily, async ({ user, query: { days } }) => {
    const rows = await queries.daily(user.id, days);
    return listed(
      rows.map(({ calls, ...row }) => ({ ...row, turns: calls })),
      days,
    );
  });
  serve(server, usageTools, async ({ user, query: { agentId, days } }) =>
    listed(await queries.tools(user.id, agentId, days), days),
  );
  serve(server, costDashboard, ({ user, query: { period } }) => usage.cost(user, period));
  serve(server, getCaps, ({ user }) => usage.caps(user));
  serve(server, putCap, ({ user, body }) => usage.setCap(user, body));
}
