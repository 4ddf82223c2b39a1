import { backend as onBackend, type web, type TypesOf } from '@troupe/contract';
import type { BackendClient, User } from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';

export interface ChannelsDeps {
  roster: Roster;
  backend: BackendClient;
}

export type ChannelsService = ReturnType<typeof createChannels>;

type Set = TypesOf<typeof web.channels.set>;
type Test = TypesOf<typeof web.channels.test>;

/** A mail server may be slow to answer. */
const TEST_MS = 90_000;

/** An agent's channels. The backend keeps and runs them; web checks whose agent it is. */
export function createChannels({ roster, backend }: ChannelsDeps) {
  const client = async (user: User, agentId: string, address: string) => {
    await roster.of(user.id).get(agentId);
    return backend.as(user, address);
  };
  return {
    async list(user: User, id: string, address: string) {
      const { call } = await client(user, id, address);
      return reach(call(onBackend.channels.list, { params: { id } }));
    },
    async set(user: User, params: Set['params'], body: Set['body'], address: string) {
      const { call } = await client(user, params.id, address);
      return reach(call(onBackend.channels.set, { params, body }));
    },
    async remove(user: User, params: Set['params'], address: string) {
      const { call } = await client(user, params.id, address);
      return reach(call(onBackend.channels.remove, { params }));
    },
    async test(user: User, params: Test['params'], body: Test['body'], address: string) {
      const { call } = await client(user, params.id, address);
      return reach(call(onBackend.channels.test, { params, body, timeout: TEST_MS }));
    },
  };
}
