import { createMcpOAuth, refuseConsent } from '@troupe/agent';
import type { TypesOf, backend } from '@troupe/contract';
import { AppError, type Outbound } from '@troupe/kernel';
import type { Roster, UserServers } from '@troupe/roster';
import { visibleTo } from '../../context.ts';

export type ServersService = ReturnType<typeof createServers>;

type Told = TypesOf<typeof backend.servers.tell>['body'];

interface ServersDeps {
  servers: UserServers;
  roster: Roster;
  outbound: Outbound;
}

/** MCP servers of users: the consent that opens one for all agents, and what agents elsewhere are told of them. */
export function createServers({ servers, roster, outbound }: ServersDeps) {
  async function found(userId: string, name: string) {
    const row = await servers.find(userId, name);
    if (!row) throw new AppError(404, 'MCP server not found');
    if (row.server.url === undefined) throw new AppError(400, 'A program asks nobody for access');
    const { load, save, alone } = servers.access(userId);
    const store = {
      alone,
      load: async (_name: string, shared?: string) => (shared === undefined ? undefined : load(shared)),
      save: async (_name: string, text: string | undefined, shared?: string) => {
        if (shared !== undefined) await save(shared, text);
      },
    };
    const oauth = createMcpOAuth({ outbound, store, vault: undefined });
    return { oauth, server: { ...servers.opened(userId, row), shared: row.id } };
  }

  /** Whose agent asks: agents see what their owner gave them, and nobody else's. */
  async function asking(agentId: unknown, userId: string | undefined) {
    const agent = typeof agentId === 'string' ? await visibleTo(roster, userId).find(agentId) : undefined;
    if (!agent) throw new AppError(404, 'Agent not found');
    return agent;
  }

  return {
    async begin(
      userId: string,
      name: string,
      where: { redirectUri: string; clientUri?: string | undefined; state: string },
    ) {
      const { oauth, server } = await found(userId, name);
      const url = await oauth.begin(server, where).catch(refuseConsent);
      return { url: url ?? null };
    },

    async finish(userId: string, name: string, answer: { code: string; state: string; iss?: string | undefined }) {
      const { oauth, server } = await found(userId, name);
      await oauth.finish(server, answer).catch(refuseConsent);
      return { success: true as const };
    },

    async listForAgent(agentId: unknown, userId: string | undefined) {
      const { id, user_id: owner } = await asking(agentId, userId);
      return { servers: await servers.forAgent(owner, id) };
    },

    async tell(agentId: unknown, userId: string | undefined, serverId: string, told: Told) {
      const { id, user_id: owner } = await asking(agentId, userId);
      if (!(await servers.told(owner, id, serverId, told))) throw new AppError(404, 'MCP server not found');
      return { success: true as const };
    },
  };
}
