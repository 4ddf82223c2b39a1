import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Usage } from './service.ts';

const listed = <T>(rows: T[], days: number) => ({ rows, count: rows.length, days });

export function usageRoutes(server: Server, usage: Usage): void {
  const { queries } = usage;
  serve(server, web.usage.getSummary, async ({ user, query: { days, agentId } }) =>
    listed(await queries.summary(user.id, days, agentId), days),
  );
  serve(server, web.usage.getByAgent, async ({ user, params, query: { days } }) => {
    const rows = await queries.byAgent(user.id, params.agentId, days);
    return listed(
      rows.map(({ calls, ...row }) => ({ ...row, events: calls })),
      days,
    );
  });
  serve(server, web.usage.getByModel, async ({ user, query: { days } }) => {
    const rows = await queries.byModel(user.id, days);
    return listed(
      rows.map(({ calls, ...row }) => ({ ...row, turns: calls })),
      days,
    );
  });
  serve(server, web.usage.getDaily, async ({ user, query: { days } }) => {
    const rows = await queries.daily(user.id, days);
    return listed(
      rows.map(({ calls, ...row }) => ({ ...row, turns: calls })),
      days,
    );
  });
  serve(server, web.usage.getTools, async ({ user, query: { agentId, days } }) =>
    listed(await queries.tools(user.id, agentId, days), days),
  );
  serve(server, web.usage.getCosts, ({ user, query: { period } }) => usage.cost(user, period));
  serve(server, web.usage.getCaps, ({ user }) => usage.caps(user));
  serve(server, web.usage.putCap, ({ user, body }) => usage.setCap(user, body));
}
