import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { EvaluationsService } from './service.ts';

export function evaluationRoutes(server: Server, evaluations: EvaluationsService): void {
  const { evaluations: on } = web;
  serve(server, on.listCases, ({ user, params }) => evaluations.listCases(user, params.id));
  serve(server, on.createCase, ({ user, params, body }) => evaluations.createCase(user, params.id, body));
  serve(server, on.createCaseFromRun, ({ user, params, body, request }) =>
    evaluations.createCaseFromRun(user, params.id, body, request.address),
  );
  serve(server, on.updateCase, ({ user, params, body }) =>
    evaluations.updateCase(user, params.id, params.caseId, body),
  );
  serve(server, on.removeCase, ({ user, params }) => evaluations.removeCase(user, params.id, params.caseId));
  serve(server, on.list, ({ user, params, query }) => evaluations.list(user, params.id, query.limit));
  serve(server, on.start, ({ user, params, body }) => evaluations.start(user, params.id, body));
  serve(server, on.get, ({ user, params }) => evaluations.get(user, params.id, params.evaluationId));
  serve(server, on.stop, ({ user, params }) => evaluations.stop(user, params.id, params.evaluationId));
  serve(server, on.setGate, ({ user, params, body }) => evaluations.setGate(user, params.id, body.enabled));
}
