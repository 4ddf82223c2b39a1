import { deployAgent, deployTeam } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import { callerOf } from '../../context.ts';
import type { TeamService } from '../teams/service.ts';
import type { DeploymentService } from './service.ts';

export function deploymentRoutes(server: Server, deployments: DeploymentService, teams: TeamService): void {
  serve(server, deployAgent, async ({ request, body }) => {
    const { created, body: reply } = await deployments.deploy(callerOf(request), body);
    return respond({ status: created ? 201 : 200, body: reply });
  });
  serve(server, deployTeam, ({ request, body }) => teams.deploy(callerOf(request), body));
}
