import { getTeamTemplates, listTeams, provisionTeam } from '@troupe/contract';
import { templateList } from '@troupe/domain';
import { serve, type Server } from '@troupe/kernel';
import type { TeamsService } from './service.ts';

export function teamRoutes(server: Server, teams: TeamsService): void {
  const list = templateList();
  serve(server, provisionTeam, ({ user, body, request }) => teams.provision(user, body, request.address));
  serve(server, getTeamTemplates, () => list);
  serve(server, listTeams, ({ user, query }) => teams.list(user, query));
}
