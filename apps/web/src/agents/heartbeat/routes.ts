import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { HeartbeatService } from './service.ts';

export function heartbeatRoutes(server: Server, heartbeats: HeartbeatService): void {
  serve(server, web.heartbeat.get, ({ user, query }) => heartbeats.get(user, query.agentId));
  serve(server, web.heartbeat.set, ({ user, body }) => heartbeats.set(user, body));
  serve(server, web.heartbeat.remove, ({ user, body }) => heartbeats.remove(user, body.agentId));
}
