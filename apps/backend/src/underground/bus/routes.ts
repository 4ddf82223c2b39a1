import { underground } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Doors } from './doors.ts';
import type { Bus } from './service.ts';

export function busRoutes(server: Server, bus: Bus, doors: Doors): void {
  serve(server, underground.sendBusMessage, ({ body }) => bus.send(body));
  serve(server, underground.signBusMessage, ({ user, body }) => bus.sign(user.id, body.message));
  serve(server, underground.listBusMessages, ({ user, query }) => bus.list(user.id, query.agentId, query.limit));
  serve(server, underground.getAgentDoor, ({ user, params }) => doors.read(user.id, params.agentId));
  serve(server, underground.setAgentDoor, ({ user, params, body }) => doors.set(user.id, params.agentId, body));
}
