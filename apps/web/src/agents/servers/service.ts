import {
  backend as onBackend,
  gateway,
  mcpServerChanged,
  NO_AGENT_TRIES,
  type TypesOf,
  type UserServer,
  type web,
} from '@troupe/contract';
import { notify, type UserTx } from '@troupe/db';
import { isPlan, MCP_SERVERS, mcpServerSchema, toolsetNames } from '@troupe/domain';
import { AppError, iso, randomHex, type BackendClient, type Clock, type Log, type User } from '@troupe/kernel';
import type { Roster, ServerRow, UserServers } from '@troupe/roster';
import { reach } from '../../platform/reach.ts';
import { CALLBACK, CLIENT_DOCUMENT, comeBack, OF_ALL, type Came } from '../consent.ts';

export interface ServersDeps {
  servers: UserServers;
  roster: Roster;
  backend: BackendClient;
  clock: Clock;
  log: Log;
}

export type ServersService = ReturnType<typeof createServers>;

type Given = TypesOf<typeof web.servers.save>['body'];
type Change = TypesOf<typeof web.servers.change>['body'];

/** A program that is installed first takes its time. */
const TRY_MS = 200_000;

const mostOf = ({ plan, isAdmin }: User): number => MCP_SERVERS[isAdmin ? 'network' : isPlan(plan) ? plan : 'solo'];

/** Others than an agent's own: these are kept by web, and every process hears when one is another. */
export function createServers(deps: ServersDeps) {
  const { servers, roster, clock } = deps;
  const shown = createShowing(deps);

  /** Whoever is named is theirs. */
  async function checked(userId: string, agents: readonly string[]): Promise<string[]> {
    const own = new Set((await roster.of(userId).list()).map(({ id }) => id));
    if (agents.some((id) => !own.has(id))) throw new AppError(404, 'Agent not found');
    return [...new Set(agents)];
  }

  async function one(user: User, name: string): Promise<{ server: UserServer }> {
    const server = (await shown(user.id)).find((found) => found.name === name);
    if (!server) throw missing();
    return { server };
  }

  return {
    async list(user: User) {
      const all = await shown(user.id);
      return { servers: all, count: all.length, most: mostOf(user) };
    },

    async save(user: User, name: string, { approval = 'allow', forAll = true, agents = [], ...given }: Given) {
      const chosen = await checked(user.id, forAll ? [] : agents);
      const most = mostOf(user);
      const how = { most, at: clock(), approval, forAll, agents: chosen };
      if (!(await servers.save(user.id, fitting(name, given), how, tell(user.id, name))))
        throw new AppError(409, `Your plan has ${most} MCP servers at most: remove one, or choose a larger plan`);
      return one(user, name);
    },

    async change(user: User, name: string, { agents, ...given }: Change) {
      const chosen = agents && { agents: await checked(user.id, agents) };
      if (!(await servers.change(user.id, name, { ...given, ...chosen, at: clock() }, tell(user.id, name))))
        throw missing();
      return one(user, name);
    },

    async remove(user: User, name: string) {
      if (!(await servers.remove(user.id, name, tell(user.id, name)))) throw missing();
      return { success: true as const };
    },

    ...createTried(deps, tell),
    ...createConsents(deps, tell),
  };
}

const missing = () => new AppError(404, 'MCP server not found');

/** As the agent's own are checked. */
function fitting(name: string, given: Omit<Given, 'approval' | 'forAll' | 'agents'>) {
  if ((toolsetNames as readonly string[]).includes(name))
    throw new AppError(400, `The agent’s own tools are named ${name}: choose another name`);
  const { url, command, client, args = [] } = given;
  if ((url === undefined) === (command === undefined)) throw new AppError(400, 'Give either url or command');
  if (url === undefined && client) throw new AppError(400, 'A program asks nobody for access');
  if (args.length > 100 || args.join('').length > 20_000) throw new AppError(400, 'Too many arguments');
  return mcpServerSchema.parse({ ...given, name });
}

function createShowing({ servers, roster }: ServersDeps) {
  const open = ({ name, server, approval, for_all: forAll, isConnected }: ServerRow) => ({
    name,
    ...(server.url !== undefined && { url: server.url }),
    ...(server.command !== undefined && { command: server.command }),
    args: server.args,
    headers: server.headers,
    env: server.env,
    ...(server.clientId !== undefined && { clientId: server.clientId }),
    ...(server.tools && { tools: server.tools }),
    approval,
    forAll,
    isConnected,
  });

  return async function shown(userId: string): Promise<UserServer[]> {
    const [rows, uses, pins, agents] = await Promise.all([
      servers.list(userId),
      servers.uses(userId),
      servers.pins(userId),
      roster.of(userId).list(),
    ]);
    return rows.map((row) => {
      const pin = pins.find(({ server_id }) => server_id === row.id)?.pin as unknown as Pin | undefined;
      return {
        ...open(row),
        ...(pin && isMeant(pin, row) && { pin: { ...pin, packages: pin.packages.length } }),
        agents: agents.map(({ id, name }) => {
          const use = uses.find(({ server_id, agent_id }) => server_id === row.id && agent_id === id);
          return {
            agentId: id,
            name,
            uses: use?.uses ?? row.for_all,
            state: use?.state ?? ('unused' as const),
            ...(use?.error != null && { error: use.error }),
            ...(use?.offered && { offered: use.offered }),
            ...(use?.tried_at && { at: iso(use.tried_at) }),
          };
        }),
      };
    });
  };
}

interface Pin {
  spec: string;
  name: string;
  version: string;
  integrity: string;
  packages: unknown[];
  at: string;
}

/** A command that names something else now has not been resolved yet. */
const isMeant = ({ spec }: Pin, { server: { args } }: ServerRow): boolean =>
  args.some((arg) => arg === spec || arg.endsWith(`=${spec}`));

/** Which agent tries a server: the one that was named, or the first that has it and runs. */
function createTrying({ servers, roster }: ServersDeps) {
  return async function trying(user: User, name: string, agentId: string | undefined): Promise<string> {
    const row = await servers.find(user.id, name);
    if (!row) throw missing();
    if (agentId !== undefined) return (await roster.of(user.id).get(agentId)).id;
    const uses = await servers.uses(user.id);
    const isUsing = (id: string): boolean =>
      uses.find(({ server_id, agent_id }) => server_id === row.id && agent_id === id)?.uses ?? row.for_all;
    const found = (await roster.of(user.id).list()).find(({ id, status }) => status === 'running' && isUsing(id));
    if (!found) throw new AppError(409, NO_AGENT_TRIES);
    return found.id;
  };
}

type Tell = typeof tell;

/** Every process hears that it is another one. */
const tell = (userId: string, name: string) => (tx: UserTx) => notify(tx, mcpServerChanged, { userId, name });

/** What an agent does for its owner. */
function createTried(deps: ServersDeps, told: Tell) {
  const { servers, backend, clock } = deps;
  const trying = createTrying(deps);
  return {
    async test(user: User, name: string, agentId: string | undefined, address: string) {
      const by = await trying(user, name, agentId);
      const { call } = backend.as(user, address);
      const tried = await reach(call(gateway.connections.test, { params: { agentId: by, id: name }, timeout: TRY_MS }));
      return { ...tried, agentId: by };
    },

    async update(user: User, name: string, agentId: string | undefined, address: string) {
      const by = await trying(user, name, agentId);
      const { call } = backend.as(user, address);
      const updated = await reach(
        call(gateway.connections.update, { params: { agentId: by, id: name }, timeout: TRY_MS }),
      );
      // Other agents go on with the version before until they hear of it.
      await servers.change(user.id, name, { at: clock() }, told(user.id, name));
      return updated;
    },
  };
}

/** Access that is asked for. */
function createConsents({ servers, backend, clock, log }: ServersDeps, told: Tell) {
  return {
    async connect(user: User, name: string, { origin, address }: { origin: string; address: string }) {
      const body = {
        redirectUri: origin + CALLBACK,
        state: `${OF_ALL}.${name}.${randomHex(16)}`,
        ...(origin.startsWith('https:') && { clientUri: origin + CLIENT_DOCUMENT }),
      };
      return reach(backend.as(user, address).call(onBackend.servers.consent, { params: { name }, body }));
    },

    /** Where the browser goes next. */
    finish: (user: User, came: Came, address: string): Promise<string> =>
      comeBack(log, came, async (name, body) => {
        await reach(backend.as(user, address).call(onBackend.servers.consented, { params: { name }, body }));
        const server = await servers.find(user.id, name);
        if (server) await servers.change(user.id, name, { at: clock() }, told(user.id, name));
      }),
  };
}
