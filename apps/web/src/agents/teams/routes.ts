import { web } from '@troupe/contract';
import { templateList } from '@troupe/domain';
import { serve, type Server } from '@troupe/kernel';
import type { TeamsService } from './service.ts';

export function teamRoutes(server: Server, teams: TeamsService): void {
  const list = templateList();
  serve(server, web.teams.provision, ({ user, body, request }) => teams.provision(user, body, request.address));
  serve(server, web.teams.preview, ({ user, body }) => teams.preview(user, body.yaml_config));
  serve(server, web.teams.listTemplates, () => list);
  serve(server, web.teams.exportAgent, ({ user, params }) => teams.exportAgent(user.id, params.id));
  serve(server, web.teams.list, ({ user, query }) => teams.list(user, query));
}
