import { gateway, mcpServerChanged, type web, type TypesOf } from '@troupe/contract';
import { notify, type Database } from '@troupe/db';
import type { Roster, UserServers } from '@troupe/roster';
import { AppError, randomHex, type BackendClient, type Log, type User } from '@troupe/kernel';
import { reach } from '../../platform/reach.ts';
import type { Untried } from '../evaluations/service.ts';
import { CALLBACK, CLIENT_DOCUMENT, comeBack, type Came } from '../consent.ts';

export interface ConnectionsDeps {
  db: Database;
  roster: Roster;
  /** The user's, which agents inherit. */
  servers: UserServers;
  backend: BackendClient;
  log: Log;
  untried: Untried;
}

export type ConnectionsService = ReturnType<typeof createConnections>;

type Server = TypesOf<typeof web.connections.attach>['body'];

/** A program that is installed first takes its time to start. */
const TEST_MS = 200_000;

/** An agent's MCP servers. The agent itself keeps and uses them; web only checks whose it is. */
export function createConnections({ db, roster, servers, backend, log, untried }: ConnectionsDeps) {
  const client = async (user: User, agentId: string, address: string) => {
    await roster.of(user.id).get(agentId);
    return backend.as(user, address);
  };

  return {
    async list(user: User, agentId: string, address: string) {
      const { call } = await client(user, agentId, address);
      return reach(call(gateway.connections.list, { params: { agentId } }));
    },

    async attach(
      user: User,
      { agentId, name, force }: { agentId: string; name: string; force: boolean },
      server: Server,
      address: string,
    ) {
      const { call } = await client(user, agentId, address);
      await untried(user.id, agentId, force);
      return reach(call(gateway.connections.attach, { ...of(agentId, name), body: server }));
    },

    async remove(user: User, agentId: string, name: string, force: boolean, address: string) {
      const { call } = await client(user, agentId, address);
      await untried(user.id, agentId, force);
      return reach(call(gateway.connections.remove, of(agentId, name)));
    },

    async test(user: User, agentId: string, name: string, address: string) {
      const { call } = await client(user, agentId, address);
      return reach(call(gateway.connections.test, { ...of(agentId, name), timeout: TEST_MS }));
    },

    async update(user: User, agentId: string, name: string, address: string) {
      const { call } = await client(user, agentId, address);
      return reach(call(gateway.connections.update, { ...of(agentId, name), timeout: TEST_MS }));
    },

    /** A server of the user's, for this agent alone. */
    async use(
      user: User,
      { agentId, name, force }: { agentId: string; name: string; force: boolean },
      isUsed: boolean,
    ) {
      await roster.of(user.id).get(agentId);
      await untried(user.id, agentId, force);
      if (!(await servers.use(user.id, agentId, name, isUsed))) throw new AppError(404, 'MCP server not found');
      await notify(db.user(user.id), mcpServerChanged, { userId: user.id, name });
      return { success: true as const };
    },

    ...createConsents(client, log),
  };
}

type Client = (user: User, agentId: string, address: string) => Promise<ReturnType<BackendClient['as']>>;

const of = (agentId: string, name: string) => ({ params: { agentId, id: name } });

/** Access that is asked for. */
function createConsents(client: Client, log: Log) {
  return {
    /** The state says whose answer it is when the browser comes back with it. */
    async connect(user: User, agentId: string, name: string, { origin, address }: { origin: string; address: string }) {
      const { call } = await client(user, agentId, address);
      const body = {
        redirectUri: origin + CALLBACK,
        state: `${agentId}.${name}.${randomHex(16)}`,
        // Its own description is where anybody can read it, or it is none.
        ...(origin.startsWith('https:') && { clientUri: origin + CLIENT_DOCUMENT }),
      };
      return reach(call(gateway.connections.consent, { ...of(agentId, name), body }));
    },

    /** Where the browser goes next, whatever it came back with. */
    finish: (user: User, agentId: string, came: Came, address: string): Promise<string> =>
      comeBack(log, came, async (name, body) => {
        const { call } = await client(user, agentId, address);
        await reach(call(gateway.connections.consented, { ...of(agentId, name), body }));
      }),
  };
}
