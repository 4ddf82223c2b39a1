import { backend } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import { callerOf } from '../../context.ts';
import type { DeploymentService } from './service.ts';

export function deploymentRoutes(server: Server, deployments: DeploymentService): void {
  serve(server, backend.deployments.create, async ({ request, body }) => {
    const { created, body: reply } = await deployments.deploy(callerOf(request), body);
    return respond({ status: created ? 201 : 200, body: reply });
  });
}
