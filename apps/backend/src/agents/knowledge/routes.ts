import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { Knowledge } from './service.ts';

export function knowledgeRoutes(server: Server, knowledge: Knowledge): void {
  serve(server, backend.knowledge.search, ({ user, request, body }) =>
    knowledge.search(request.headers['x-agent-id'], user?.id ?? actingFor(request), body),
  );
  serve(server, backend.knowledge.read, ({ user, request, body }) =>
    knowledge.read(request.headers['x-agent-id'], user?.id ?? actingFor(request), body),
  );
  serve(server, backend.knowledge.find, ({ request, body }) => knowledge.find(actingFor(request), body));
}
