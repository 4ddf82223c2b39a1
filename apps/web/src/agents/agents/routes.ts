import {
  cloneAgent,
  deleteAgent,
  getAgent,
  getAgentConfig,
  getAgentLogs,
  getAgentMessages,
  getAgentPurpose,
  getAgentStats,
  getAgentToken,
  getCloneService,
  getVerification,
  getVerificationStatus,
  listAgents,
  listProvisionedAgents,
  provisionAgent,
  putAgentConfig,
  putAgentPurpose,
  removeVerification,
  renameAgent,
  rotateAgentToken,
  streamAgentLogs,
  verifyAgent,
} from '@troupe/contract';
import { eventStream, serve, type Server } from '@troupe/kernel';
import type { Clones } from './clones.ts';
import type { ReadsService } from './reads.ts';
import type { AgentsService } from './service.ts';

export function agentRoutes(server: Server, agents: AgentsService, reads: ReadsService, clones: Clones): void {
  serve(server, listAgents, async ({ user, query }) => {
    const page = user ? await agents.list(user, query) : { agents: [], count: 0, hasMore: false };
    return { ...page, status: 'ok' as const };
  });
  serve(server, listProvisionedAgents, async ({ user, query }) => ({
    success: true as const,
    ...(await agents.list(user, query)),
  }));
  serve(server, provisionAgent, ({ user, body, request }) => agents.provision(user, body, request.address));
  serve(server, getAgent, async ({ user, params }) => ({
    agent: await agents.get(user, params.id),
    status: 'ok' as const,
  }));
  serve(server, renameAgent, ({ user, params, body, request }) =>
    agents.rename(user, params.id, body.name, request.address),
  );
  serve(server, deleteAgent, ({ user, params, request }) => agents.remove(user, params.id, request.address));
  serve(server, getAgentConfig, ({ user, params }) => agents.config(user, params.id));
  serve(server, putAgentConfig, ({ user, params, body, request }) =>
    agents.configure(user, params.id, body, request.address),
  );
  serve(server, getAgentPurpose, ({ user, params }) => agents.purpose(user, params.id));
  serve(server, putAgentPurpose, ({ user, params, body, request }) =>
    agents.setPurpose(user, params.id, body, request.address),
  );
  serve(server, getAgentToken, ({ user, params, request }) => agents.token(user, params.id, request.address));
  serve(server, rotateAgentToken, ({ user, params, request }) => agents.rotateToken(user, params.id, request.address));
  readRoutes(server, reads);
  serve(server, cloneAgent, clones.clone);
  serve(server, getCloneService, clones.describe);
}

function readRoutes(server: Server, reads: ReadsService): void {
  serve(server, getAgentLogs, ({ user, params, query, request }) =>
    reads.logs(user, params.id, query, request.address),
  );
  serve(server, streamAgentLogs, async ({ user, params, query, request }) => {
    const last = request.headers['last-event-id'];
    const given = typeof last === 'string' && /^\d{1,18}$/.test(last) ? last : undefined;
    return eventStream(await reads.logStream(user, params.id, { ...query, last: given, signal: request.signal() }));
  });
  serve(server, getAgentMessages, ({ user, params, query, request }) =>
    reads.messages(user, params.id, query, request.address),
  );
  serve(server, getAgentStats, ({ user, params, request }) => reads.stats(user, params.id, request.address));
  serve(server, getVerification, ({ user, params, request }) => reads.verification(user, params.id, request.address));
  serve(server, getVerificationStatus, ({ user, params, request }) =>
    reads.verification(user, params.id, request.address),
  );
  serve(server, verifyAgent, ({ user, params, body, request }) => reads.verify(user, params.id, body, request.address));
  serve(server, removeVerification, ({ user, params, request }) => reads.unverify(user, params.id, request.address));
}
