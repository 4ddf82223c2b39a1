import { gateway, type web, type TypesOf } from '@troupe/contract';
import type { BackendClient, User } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';

export interface BackgroundDeps {
  roster: Roster;
  backend: BackendClient;
}

export type BackgroundService = ReturnType<typeof createBackground>;

/** Work that agents have in the background. The agent itself keeps it; web only checks whose it is. */
export function createBackground({ roster, backend }: BackgroundDeps) {
  const client = async (user: User, agentId: string, address: string) => {
    await roster.of(user.id).get(agentId);
    return backend.as(user, address);
  };

  return {
    async list(user: User, agentId: string, query: TypesOf<typeof web.background.list>['query'], address: string) {
      const { call } = await client(user, agentId, address);
      return reach(call(gateway.background.list, { params: { agentId }, query }));
    },
    async get(user: User, agentId: string, id: string, address: string) {
      const { call } = await client(user, agentId, address);
      return reach(call(gateway.background.get, { params: { agentId, id } }));
    },
    async stop(user: User, agentId: string, id: string, address: string) {
      const { call } = await client(user, agentId, address);
      return reach(call(gateway.background.stop, { params: { agentId, id } }));
    },
  };
}
