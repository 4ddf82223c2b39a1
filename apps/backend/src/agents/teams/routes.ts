import { backend } from '@troupe/contract';
import { templateList } from '@troupe/domain';
import { serve, type Server } from '@troupe/kernel';
import { actingFor, callerOf } from '../../context.ts';
import type { TeamService } from './service.ts';
import type { SharedStores } from './shared.ts';

export function teamRoutes(server: Server, teams: TeamService, shared: SharedStores): void {
  const list = templateList();
  serve(server, backend.teams.listTemplates, () => list);
  serve(server, backend.teams.deploy, ({ request, body }) => teams.deploy(callerOf(request), body));
  serve(server, backend.teams.askStore, async ({ user, request, body }) => ({
    result: await shared.use(request.headers['x-agent-id'], user?.id ?? actingFor(request), body),
  }));
}
