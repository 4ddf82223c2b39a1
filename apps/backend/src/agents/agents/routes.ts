import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor, callerOf } from '../../context.ts';
import type { AgentService } from './service.ts';

export function agentRoutes(server: Server, agents: AgentService): void {
  serve(server, backend.agents.list, ({ request, query }) => agents.list(actingFor(request), query));
  serve(server, backend.agents.create, ({ request, body }) => agents.create(callerOf(request), body));
  serve(server, backend.agents.get, ({ request, params }) => agents.read(params.id, actingFor(request)));
  serve(server, backend.agents.update, ({ request, params, body }) =>
    agents.update(params.id, actingFor(request), body),
  );
  serve(server, backend.agents.remove, ({ request, params }) => agents.remove(params.id, actingFor(request)));
  serve(server, backend.agents.getVerification, ({ request, params }) =>
    agents.verification(params.id, actingFor(request)),
  );
  serve(server, backend.agents.verify, ({ request, params, body }) =>
    agents.verify(params.id, actingFor(request), body),
  );
  serve(server, backend.agents.removeVerification, ({ request, params }) =>
    agents.unverify(params.id, actingFor(request)),
  );
}
