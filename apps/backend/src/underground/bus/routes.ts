import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Doors } from './doors.ts';
import type { Bus } from './service.ts';

export function busRoutes(server: Server, bus: Bus, doors: Doors): void {
  serve(server, backend.bus.send, ({ body }) => bus.send(body));
  serve(server, backend.bus.sign, ({ user, body }) => bus.sign(user.id, body.message));
  serve(server, backend.bus.list, ({ user, query }) => bus.list(user.id, query.agentId, query.limit));
  serve(server, backend.bus.getDoor, ({ user, params }) => doors.read(user.id, params.agentId));
  serve(server, backend.bus.setDoor, ({ user, params, body }) => doors.set(user.id, params.agentId, body));
}
