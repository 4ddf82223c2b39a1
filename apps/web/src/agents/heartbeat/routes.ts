import { deleteHeartbeat, getHeartbeat, setHeartbeat } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { HeartbeatService } from './service.ts';

export function heartbeatRoutes(server: Server, heartbeats: HeartbeatService): void {
  serve(server, getHeartbeat, ({ user, query }) => heartbeats.get(user, query.agentId));
  serve(server, setHeartbeat, ({ user, body }) => heartbeats.set(user, body));
  serve(server, deleteHeartbeat, ({ user, body }) => heartbeats.remove(user, body.agentId));
}
