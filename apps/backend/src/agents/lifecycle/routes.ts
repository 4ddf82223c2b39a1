import type { Audit } from '@troupe/accounts';
import {
  repairAgent,
  resetAgentMemory,
  restartAgent,
  rotateBackendToken,
  startAgent,
  stopAgent,
  updateAgentImage,
} from '@troupe/contract';
import type { Fleet } from '@troupe/fleet';
import { serve, type RequestInfo, type Server } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { actingFor, visibleTo } from '../../context.ts';

export function lifecycleRoutes(
  server: Server,
  { fleet, roster, version, audit }: { fleet: Fleet; roster: Roster; version: string; audit: Audit },
): void {
  const find = (params: { id: string }, request: RequestInfo) => visibleTo(roster, actingFor(request)).get(params.id);
  const done = { success: true as const };

  serve(server, startAgent, async ({ params, request }) => {
    await fleet.start(await find(params, request));
    return { ...done, status: 'active' as const };
  });
  serve(server, stopAgent, async ({ params, request }) => {
    await fleet.stop(await find(params, request));
    return { ...done, status: 'stopped' as const };
  });
  serve(server, restartAgent, async ({ params, request }) => {
    const agent = await fleet.restart(await find(params, request));
    return { ...done, status: 'active' as const, runtimeVersion: agent.runtime_version ?? version };
  });
  serve(server, updateAgentImage, async ({ params, request, body }) => {
    const { agent, ...updated } = await fleet.update(await find(params, request), body.image);
    return { ...done, status: 'active' as const, ...updated, runtimeVersion: agent.runtime_version ?? version };
  });
  serve(server, repairAgent, async ({ params, request }) => {
    await fleet.repair(await find(params, request));
    return { ...done, message: 'Agent repaired successfully' };
  });
  serve(server, rotateBackendToken, async ({ params, request }) => {
    const agent = await find(params, request);
    const token = await fleet.rotateToken(agent, (tx) =>
      audit(tx, {
        userId: agent.user_id,
        action: 'gateway-token-rotated',
        detail: { agentId: agent.id, name: agent.name },
        ip: request.address,
      }),
    );
    return { ...done, token };
  });
  serve(server, resetAgentMemory, async ({ params, request }) => {
    await fleet.resetMemory(await find(params, request));
    return { ...done, message: 'Memory reset successfully' };
  });
}
