import type { Database, UserTx } from '@troupe/db';
import type { ApprovalRule, McpServer } from '@troupe/domain';
import { createCipher, newId } from '@troupe/kernel';
import { sql } from 'kysely';
import { createServerAccess } from './mcp-access.ts';

/** MCP servers of users, which all of their agents have, or those that were chosen. What is secret opens for that user and name alone. */

/** What is kept in the open: of secrets their names alone. */
interface Kept {
  url?: string;
  command?: string;
  args: string[];
  tools?: string[];
  headers: string[];
  env: string[];
  clientId?: string;
  /** Values of headers, of the environment and of the registration. */
  sealed: string;
}

interface Secrets {
  headers: Record<string, string>;
  env: Record<string, string>;
  clientSecret?: string;
}

export interface ServerRow {
  id: string;
  name: string;
  server: Kept;
  for_all: boolean;
  approval: ApprovalRule;
  isConnected: boolean;
  updated_at: Date;
}

interface ServerUse {
  server_id: string;
  agent_id: string;
  uses: boolean | null;
  state: 'connected' | 'failed' | 'consent' | null;
  error: string | null;
  offered: string[] | null;
  tried_at: Date | null;
}

export interface ServerChange {
  tools?: string[] | null | undefined;
  approval?: ApprovalRule | undefined;
  forAll?: boolean | undefined;
  /** Of those that it is for; left out: as it was. */
  agents?: readonly string[] | undefined;
}

export interface Tried {
  state: 'connected' | 'failed' | 'consent';
  error?: string | undefined;
  offered?: readonly string[] | undefined;
}

export type UserServers = ReturnType<typeof createUserServers>;

const ROW = ['id', 'name', 'server', 'for_all', 'approval', 'updated_at'] as const;
const MOST_OFFERED = 500;

const rowsOf = (tx: UserTx) =>
  tx
    .selectFrom('mcp_servers')
    .select(ROW)
    .select(sql<boolean>`access is not null`.as('isConnected'))
    .orderBy('name');

const read = (row: unknown): ServerRow => row as ServerRow;

/** Who is counted is counted one after the other. */
const lock = (tx: UserTx, userId: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`mcp_servers of ${userId}`}, 0))`.execute(tx);

async function choose(tx: UserTx, row: { userId: string; serverId: string }, agents: readonly string[]): Promise<void> {
  const { userId: user_id, serverId: server_id } = row;
  await tx
    .updateTable('mcp_server_agents')
    .set({ uses: null })
    .where('server_id', '=', server_id)
    .where('uses', '=', true)
    .execute();
  if (agents.length === 0) return;
  await tx
    .insertInto('mcp_server_agents')
    .values(agents.map((agent_id) => ({ server_id, agent_id, user_id, uses: true })))
    .onConflict((conflict) => conflict.columns(['server_id', 'agent_id']).doUpdateSet({ uses: true }))
    .execute();
}

function createSealing(sealKey: string) {
  const cipher = createCipher(sealKey, 'mcp');
  const place = (userId: string, name: string): string => `mcp of user ${userId} ${name}`;
  return {
    kept(userId: string, { name, headers, env, client, ...open }: McpServer): Kept {
      const secrets: Secrets = { headers, env, ...(client?.secret !== undefined && { clientSecret: client.secret }) };
      return {
        args: open.args,
        ...(open.url !== undefined && { url: open.url }),
        ...(open.command !== undefined && { command: open.command }),
        ...(open.tools && { tools: open.tools }),
        ...(client && { clientId: client.id }),
        headers: Object.keys(headers),
        env: Object.keys(env),
        sealed: cipher.seal(JSON.stringify(secrets), place(userId, name)).toString('base64'),
      };
    },
    opened(userId: string, { name, server }: Pick<ServerRow, 'name' | 'server'>): McpServer {
      const { sealed, clientId, headers: _headers, env: _env, ...open } = server;
      const text = cipher.open(Buffer.from(sealed, 'base64'), place(userId, name));
      const { clientSecret: secret, headers, env } = JSON.parse(text) as Secrets;
      const client =
        clientId === undefined ? {} : { client: { id: clientId, ...(secret !== undefined && { secret }) } };
      return { name, ...open, headers, env, ...client };
    },
  };
}

/** How agents use them. */
function createUses(db: Database, { opened }: ReturnType<typeof createSealing>) {
  return {
    /** Of all servers of a user, or of one. */
    async uses(userId: string): Promise<ServerUse[]> {
      const rows = await db
        .user(userId)
        .selectFrom('mcp_server_agents')
        .select(['server_id', 'agent_id', 'uses', 'state', 'error', 'offered', 'tried_at'])
        .execute();
      return rows as unknown as ServerUse[];
    },

    /** Those that an agent was given, opened. */
    async forAgent(userId: string, agentId: string) {
      const rows = await rowsOf(db.user(userId))
        .leftJoin('mcp_server_agents as use', (join) =>
          join.onRef('use.server_id', '=', 'mcp_servers.id').on('use.agent_id', '=', agentId),
        )
        .select('use.uses')
        .where((eb) => eb.or([eb('mcp_servers.for_all', '=', true), eb('use.uses', '=', true)]))
        .execute();
      return rows.map((row) => ({
        ...opened(userId, read(row)),
        shared: row.id,
        approval: row.approval as ApprovalRule,
        isOff: row.uses === false,
      }));
    },
  };
}

/** What agents do with them, and what they tell. */
const createTelling = (db: Database) => ({
  /** False: there is no such server, or the agent was not given it. */
  async use(userId: string, agentId: string, name: string, isUsed: boolean): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await db
      .user(userId)
      .insertInto('mcp_server_agents')
      .columns(['server_id', 'agent_id', 'user_id', 'uses'])
      .expression((eb) =>
        eb
          .selectFrom('mcp_servers')
          .select(['id', sql<string>`${agentId}`.as('agent_id'), 'user_id', sql<boolean>`${isUsed}`.as('uses')])
          .where('name', '=', name),
      )
      .onConflict((conflict) => conflict.columns(['server_id', 'agent_id']).doUpdateSet({ uses: isUsed }))
      .executeTakeFirst();
    return (numInsertedOrUpdatedRows ?? 0n) > 0n;
  },

  /** How a server was when an agent last tried it; false: there is no such server, which is no news of it. */
  async told(userId: string, agentId: string, serverId: string, { state, error, offered }: Tried): Promise<boolean> {
    const now = {
      state,
      error: error?.slice(0, 1000) ?? null,
      offered: offered ? JSON.stringify(offered.slice(0, MOST_OFFERED)) : null,
      tried_at: new Date(),
    };
    const { numInsertedOrUpdatedRows } = await db
      .user(userId)
      .insertInto('mcp_server_agents')
      .columns(['server_id', 'agent_id', 'user_id', 'state', 'error', 'offered', 'tried_at'])
      .expression((eb) =>
        eb
          .selectFrom('mcp_servers')
          .innerJoin('agents', (join) =>
            join.onRef('agents.user_id', '=', 'mcp_servers.user_id').on('agents.id', '=', agentId),
          )
          .select([
            'mcp_servers.id',
            'agents.id as agent_id',
            'mcp_servers.user_id',
            sql<string>`${now.state}`.as('state'),
            sql<string>`${now.error}`.as('error'),
            sql<string>`${now.offered}::jsonb`.as('offered'),
            sql<Date>`${now.tried_at}::timestamptz`.as('tried_at'),
          ])
          .where('mcp_servers.id', '=', serverId),
      )
      .onConflict((conflict) => conflict.columns(['server_id', 'agent_id']).doUpdateSet(now))
      .executeTakeFirst();
    return (numInsertedOrUpdatedRows ?? 0n) > 0n;
  },
});

type Tell = (tx: UserTx) => Promise<void>;

interface Saving {
  most: number;
  at: Date;
  approval: ApprovalRule;
  forAll: boolean;
  agents: readonly string[];
}

async function put(
  tx: UserTx,
  { userId, name, kept }: { userId: string; name: string; kept: Kept },
  { most, at, approval, forAll, agents }: Saving,
): Promise<boolean> {
  await lock(tx, userId);
  const all = await tx.selectFrom('mcp_servers').select(['id', 'name', 'server']).execute();
  const before = all.find((one) => one.name === name);
  if (!before && all.length >= most) return false;
  const values = { server: JSON.stringify(kept), for_all: forAll, approval, updated_at: at };
  const id = before?.id ?? newId();
  // What was agreed to was agreed to for that address.
  const isSame = before && (before.server as unknown as Kept).url === kept.url;
  if (before)
    await tx
      .updateTable('mcp_servers')
      .set({ ...values, ...(!isSame && { access: null }) })
      .where('id', '=', id)
      .execute();
  else
    await tx
      .insertInto('mcp_servers')
      .values({ id, user_id: userId, name, created_at: at, ...values })
      .execute();
  // How the one before was says nothing of this one.
  const untold = { state: null, error: null, offered: null, tried_at: null };
  await tx.updateTable('mcp_server_agents').set(untold).where('server_id', '=', id).execute();
  await choose(tx, { userId, serverId: id }, agents);
  return true;
}

async function alter(
  tx: UserTx,
  { userId, name }: { userId: string; name: string },
  { tools: given, approval, forAll, agents, at }: ServerChange & { at: Date },
): Promise<boolean> {
  const row = await tx
    .selectFrom('mcp_servers')
    .select(['id', 'server'])
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  if (!row) return false;
  const { tools: before, ...server } = row.server as unknown as Kept;
  const tools = given === undefined ? before : (given ?? undefined);
  await tx
    .updateTable('mcp_servers')
    .set({
      server: JSON.stringify({ ...server, ...(tools && { tools }) }),
      updated_at: at,
      ...(approval !== undefined && { approval }),
      ...(forAll !== undefined && { for_all: forAll }),
    })
    .where('id', '=', row.id)
    .execute();
  if (agents) await choose(tx, { userId, serverId: row.id }, agents);
  return true;
}

export function createUserServers({ db, sealKey }: { db: Database; sealKey: string }) {
  const sealing = createSealing(sealKey);
  const { kept, opened } = sealing;

  return {
    ...createUses(db, sealing),
    ...createTelling(db),
    access: createServerAccess({ db, sealKey }),
    opened,
    list: async (userId: string): Promise<ServerRow[]> => (await rowsOf(db.user(userId)).execute()).map(read),

    async find(userId: string, name: string): Promise<ServerRow | undefined> {
      const row = await rowsOf(db.user(userId)).where('name', '=', name).executeTakeFirst();
      return row && read(row);
    },

    /** What they are pinned to, by the id of the server. */
    pins: (userId: string) =>
      db.user(userId).selectFrom('mcp_pins').select(['server_id', 'pin']).where('server_id', 'is not', null).execute(),

    /** Made, or replaced with all that opened it; false: there are as many as there may be. `tell` is part of it. */
    save: (userId: string, server: McpServer, how: Saving, tell: Tell): Promise<boolean> =>
      db.asUser(userId, async (tx) => {
        const isSaved = await put(tx, { userId, name: server.name, kept: kept(userId, server) }, how);
        if (isSaved) await tell(tx);
        return isSaved;
      }),

    /** False: there is none. */
    change: (userId: string, name: string, given: ServerChange & { at: Date }, tell: Tell): Promise<boolean> =>
      db.asUser(userId, async (tx) => {
        const isChanged = await alter(tx, { userId, name }, given);
        if (isChanged) await tell(tx);
        return isChanged;
      }),

    remove: (userId: string, name: string, tell: Tell) =>
      db.asUser(userId, async (tx): Promise<boolean> => {
        const { numDeletedRows } = await tx.deleteFrom('mcp_servers').where('name', '=', name).executeTakeFirst();
        if (numDeletedRows > 0n) await tell(tx);
        return numDeletedRows > 0n;
      }),
  };
}
