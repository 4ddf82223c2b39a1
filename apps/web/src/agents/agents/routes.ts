import { web } from '@troupe/contract';
import { eventStream, serve, type Server } from '@troupe/kernel';
import type { Clones } from './clones.ts';
import type { ReadsService } from './reads.ts';
import type { AgentsService } from './service.ts';

export function agentRoutes(server: Server, agents: AgentsService, reads: ReadsService, clones: Clones): void {
  serve(server, web.agents.list, async ({ user, query }) => {
    const page = user ? await agents.list(user, query) : { agents: [], count: 0, hasMore: false };
    return { ...page, status: 'ok' as const };
  });
  serve(server, web.agents.listProvisioned, async ({ user, query }) => ({
    success: true as const,
    ...(await agents.list(user, query)),
  }));
  serve(server, web.agents.provision, ({ user, body, request }) => agents.provision(user, body, request.address));
  serve(server, web.agents.get, async ({ user, params }) => ({
    agent: await agents.get(user, params.id),
    status: 'ok' as const,
  }));
  serve(server, web.agents.rename, ({ user, params, body, request }) =>
    agents.rename(user, params.id, body.name, request.address),
  );
  serve(server, web.agents.tag, ({ user, params, body, request }) =>
    agents.tag(user, params.id, body.tags, request.address),
  );
  serve(server, web.agents.duplicate, ({ user, params, body, request }) =>
    agents.duplicate(user, params.id, body, request.address),
  );
  serve(server, web.agents.remove, ({ user, params, request }) => agents.remove(user, params.id, request.address));
  serve(server, web.agents.getConfig, ({ user, params }) => agents.config(user, params.id));
  serve(server, web.agents.putConfig, ({ user, params, query, body, request }) =>
    agents.configure(user, params.id, body, query.force, request.address),
  );
  serve(server, web.agents.getPurpose, ({ user, params }) => agents.purpose(user, params.id));
  serve(server, web.agents.putPurpose, ({ user, params, query, body, request }) =>
    agents.setPurpose(user, params.id, body, query.force, request.address),
  );
  serve(server, web.agents.getToken, ({ user, params, request }) => agents.token(user, params.id, request.address));
  serve(server, web.agents.rotateToken, ({ user, params, request }) =>
    agents.rotateToken(user, params.id, request.address),
  );
  readRoutes(server, reads);
  serve(server, web.agents.clone, clones.clone);
  serve(server, web.agents.getCloneService, clones.describe);
}

function readRoutes(server: Server, reads: ReadsService): void {
  serve(server, web.agents.getLogs, ({ user, params, query, request }) =>
    reads.logs(user, params.id, query, request.address),
  );
  serve(server, web.agents.streamLogs, async ({ user, params, query, request }) => {
    const last = request.headers['last-event-id'];
    const given = typeof last === 'string' && /^\d{1,18}$/.test(last) ? last : undefined;
    return eventStream(await reads.logStream(user, params.id, { ...query, last: given, signal: request.signal() }));
  });
  serve(server, web.agents.getMessages, ({ user, params, query, request }) =>
    reads.messages(user, params.id, query, request.address),
  );
  serve(server, web.agents.getStats, ({ user, params, request }) => reads.stats(user, params.id, request.address));
  serve(server, web.agents.getVerification, ({ user, params, request }) =>
    reads.verification(user, params.id, request.address),
  );
  serve(server, web.agents.getVerificationStatus, ({ user, params, request }) =>
    reads.verification(user, params.id, request.address),
  );
  serve(server, web.agents.verify, ({ user, params, body, request }) =>
    reads.verify(user, params.id, body, request.address),
  );
  serve(server, web.agents.removeVerification, ({ user, params, request }) =>
    reads.unverify(user, params.id, request.address),
  );
}
