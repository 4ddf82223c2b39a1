import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { MemoryService } from './service.ts';

export function memoryRoutes(server: Server, memory: MemoryService): void {
  serve(server, web.memory.get, ({ user, query, request }) => memory.read(user, query, request.address));
  serve(server, web.memory.put, ({ user, body, request }) => memory.write(user, body, request.address));
  serve(server, web.memory.getCare, ({ user, params, request }) => memory.care(user, params.id, request.address));
  serve(server, web.memory.setCare, ({ user, params, query, body, request }) =>
    memory.setCare(user, params.id, body, query.force, request.address),
  );
  serve(server, web.memory.decideFact, ({ user, params, body, request }) =>
    memory.decideFact(user, params, body.keep, request.address),
  );
}
