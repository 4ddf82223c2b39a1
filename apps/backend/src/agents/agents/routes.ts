import {
  createBackendAgent,
  deleteBackendAgent,
  getBackendAgent,
  getBackendVerification,
  listBackendAgents,
  removeBackendVerification,
  updateBackendAgent,
  verifyBackendAgent,
} from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor, callerOf } from '../../context.ts';
import type { AgentService } from './service.ts';

export function agentRoutes(server: Server, agents: AgentService): void {
  serve(server, listBackendAgents, ({ request }) => agents.list(actingFor(request)));
  serve(server, createBackendAgent, ({ request, body }) => agents.create(callerOf(request), body));
  serve(server, getBackendAgent, ({ request, params }) => agents.read(params.id, actingFor(request)));
  serve(server, updateBackendAgent, ({ request, params, body }) => agents.update(params.id, actingFor(request), body));
  serve(server, deleteBackendAgent, ({ request, params }) => agents.remove(params.id, actingFor(request)));
  serve(server, getBackendVerification, ({ request, params }) => agents.verification(params.id, actingFor(request)));
  serve(server, verifyBackendAgent, ({ request, params, body }) => agents.verify(params.id, actingFor(request), body));
  serve(server, removeBackendVerification, ({ request, params }) => agents.unverify(params.id, actingFor(request)));
}
