import { deployTeam, listTeamTemplates, useTeamStore } from '@troupe/contract';
import { templateList } from '@troupe/domain';
import { serve, type Server } from '@troupe/kernel';
import { actingFor, callerOf } from '../../context.ts';
import type { TeamService } from './service.ts';
import type { SharedStores } from './shared.ts';

export function teamRoutes(server: Server, teams: TeamService, shared: SharedStores): void {
  const list = templateList();
  serve(server, listTeamTemplates, () => list);
  serve(server, deployTeam, ({ request, body }) => teams.deploy(callerOf(request), body));
  serve(server, useTeamStore, async ({ user, request, body }) => ({
    result: await shared.use(request.headers['x-agent-id'], user?.id ?? actingFor(request), body),
  }));
}
