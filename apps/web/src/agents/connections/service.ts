import { gateway, type web, type TypesOf } from '@troupe/contract';
import type { Roster } from '@troupe/roster';
import { AppError, randomHex, type BackendClient, type Log, type User } from '@troupe/kernel';
import { reach } from '../../platform/reach.ts';
import type { Untried } from '../evaluations/service.ts';

export interface ConnectionsDeps {
  roster: Roster;
  backend: BackendClient;
  log: Log;
  untried: Untried;
}

export type ConnectionsService = ReturnType<typeof createConnections>;

type Server = TypesOf<typeof web.connections.attach>['body'];

/** A program that is downloaded first takes its time to start. */
const TEST_MS = 150_000;

export const CALLBACK = '/api/mcp/callback';
export const CLIENT_DOCUMENT = '/oauth/client.json';

/** An agent's MCP servers. The agent itself keeps and uses them; web only checks whose it is. */
export function createConnections({ roster, backend, log, untried }: ConnectionsDeps) {
  const client = async (user: User, agentId: string, address: string) => {
    await roster.of(user.id).get(agentId);
    return backend.as(user, address);
  };
  const of = (agentId: string, name: string) => ({ params: { agentId, id: name } });

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

    finish: createFinish(client, log),
  };
}

type Client = (user: User, agentId: string, address: string) => Promise<ReturnType<BackendClient['as']>>;

/** Where the browser goes next, whatever it came back with. */
function createFinish(client: Client, log: Log) {
  return async function finish(user: User, came: Came, address: string): Promise<string> {
    const { agentId, name, page } = placeOf(came);
    if (agentId === '' || name === '') return '/dashboard/agents';
    const { code, state = '', iss, error } = came;
    if (code === undefined || error !== undefined) return page({ refused: name });
    try {
      const { call } = await client(user, agentId, address);
      const body = { code, state, ...(iss !== undefined && { iss }) };
      await reach(call(gateway.connections.consented, { params: { agentId, id: name }, body }));
      return page({ connected: name });
    } catch (err) {
      if (!(err instanceof AppError)) throw err;
      log.info({ err, agentId }, 'an MCP server could not be connected');
      return page({ failed: name });
    }
  };
}

interface Came {
  code?: string;
  state?: string;
  iss?: string;
  error?: string;
}

/** Whose answer it is, and the page that says what came of it. */
function placeOf({ state = '' }: Came) {
  const [agentId = '', name = ''] = state.split('.');
  const page = (result: Record<string, string>): string =>
    `/dashboard/agents/${encodeURIComponent(agentId)}?${new URLSearchParams({ tab: 'connections', ...result }).toString()}`;
  return { agentId, name, page };
}
