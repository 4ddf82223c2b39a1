import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import { definitionSchema, newDefinition, type AgentDefinition } from '@troupe/agent';
import type { OwnKey } from '@troupe/ai';
import { isDuplicate, type Database, type SystemTx, type Tables, type UserTx } from '@troupe/db';
import type { Plan, Tier } from '@troupe/domain';
import { AppError, createCipher, randomHex, sha256Hex, type Clock } from '@troupe/kernel';
import type { z } from 'zod';
import { createRoom, type Room } from './room.ts';
import { effectiveConfig, layered, type ConfigPart } from './config.ts';

/** The rows that agents are. Web and backend read and write them alike; what runs comes after them. */

export type AgentRow = Selectable<Tables['agents']>;
/** All of an agent's own settings together: each change is kept whole. */
const MAX_CONFIG = 65_536;
type AgentStatus = 'pending' | 'provisioning' | 'running' | 'stopped' | 'error' | 'failed';

export interface NewAgent {
  id: string;
  userId: string;
  name: string;
  plan: Plan | 'free';
  status: AgentStatus;
  tier?: Tier;
  size?: string;
  model: string;
  aiProvider?: string;
  teamId?: string;
  /** Where it is not the platform's own driver that runs it. */
  driver?: 'hosting';
  /** Beside name and configuration. */
  definition?: Omit<z.input<typeof definitionSchema>, 'name' | 'config'>;
  ownConfig?: ConfigPart;
  channels?: Readonly<Record<string, string>>;
  /** Of the owner's own account at `aiProvider`. */
  apiKey?: string;
}

export interface AgentSnapshot {
  name: string;
  model: string;
  ownConfig: ConfigPart;
  definition: AgentDefinition;
}

/** What an agent is for, and what it may use. */
type Purpose = Partial<Pick<AgentDefinition, 'instruction' | 'tools'>>;

export interface Registry extends Pick<Room, 'admit' | 'dismiss' | 'discard'> {
  /** All or none of them, and never more than `limit` together with those that are there. */
  add: (userId: string, agents: readonly NewAgent[], limit: number) => Promise<AgentRow[]>;
  find: (id: string, userId?: string) => Promise<AgentRow | undefined>;
  /** The same; throws 404. */
  get: (id: string, userId?: string) => Promise<AgentRow>;
  /** The one whose host name begins so, whatever the capitals. */
  byHost: (label: string) => Promise<Pick<AgentRow, 'id'> | undefined>;
  /** Newest last; all of them unless a page is asked for. */
  list: (userId?: string, page?: { limit: number; offset: number }) => Promise<AgentRow[]>;
  /** Those that were put on the hosting platform and are not known to run. */
  deploying: () => Promise<AgentRow[]>;
  change: (id: string, values: Partial<AgentRow>) => Promise<AgentRow>;
  delete: (id: string) => Promise<void>;
  definition: (agent: AgentRow) => Promise<AgentDefinition>;
  /** Puts changes on top of the agent's own configuration and purpose; saves what it runs with as a new version. */
  configure: (
    agent: AgentRow,
    change: ConfigPart,
    purpose?: Purpose,
  ) => Promise<{ agent: AgentRow; definition: AgentDefinition }>;
  /** What a backup keeps of the agent beside its data. */
  snapshot: (agent: AgentRow) => Promise<AgentSnapshot>;
  /** Makes it so again, as a new version; status, plan and tokens are left alone. */
  revert: (agent: AgentRow, was: AgentSnapshot) => Promise<AgentRow>;
  /** The gateway token; made if there is none. */
  token: (agent: AgentRow) => Promise<string>;
  /** The tokens of its messaging channels, by channel. */
  channelTokens: (agent: AgentRow) => Promise<Record<string, string>>;
  /** The owner's own account at a provider, if the agent thinks on one. */
  ownKey: (agent: Pick<AgentRow, 'id' | 'ai_provider' | 'provider_key'>) => OwnKey | undefined;
  /** Rotates it: the old one opens nothing from now on. `record` is part of the same transaction. */
  newToken: (agent: AgentRow, record?: (tx: SystemTx) => Promise<void>) => Promise<string>;
}

export interface RegistryDeps {
  db: Database;
  clock: Clock;
  /** Seals gateway and channel tokens. */
  sealKey: string;
}

const TOKEN_BYTES = 32;

export function createRegistry({ db, clock, sealKey }: RegistryDeps): Registry {
  const room = createRoom({ db, clock });
  const tokens = createCipher(sealKey, 'agents');
  const channels = createCipher(sealKey, 'channels');
  const providerKeys = createCipher(sealKey, 'provider keys');

  const sealed = (agentId: string, token: string) => ({
    token_hash: sha256Hex(token),
    token_sealed: tokens.seal(token, `agent:${agentId}`),
  });

  const turns = new Map<string, Promise<unknown>>();
  /** One after another for each user: a thousand that wait for the lock would leave no connection for the one that has it. */
  function inTurn<T>(userId: string, work: (isAlone: boolean) => Promise<T>): Promise<T> {
    const before = turns.get(userId);
    const mine = before ? before.then(() => work(false)) : work(true);
    const settled = mine.catch(() => undefined);
    turns.set(userId, settled);
    void settled.then(() => {
      if (turns.get(userId) === settled) turns.delete(userId);
    });
    return mine;
  }

  async function userDefault(tx: UserTx | SystemTx, userId: string): Promise<unknown> {
    const row = await tx.selectFrom('agent_configs').select('config').where('user_id', '=', userId).executeTakeFirst();
    return row?.config;
  }

  async function insert(tx: UserTx, agents: readonly NewAgent[], at: Date): Promise<AgentRow[]> {
    const base = await userDefault(tx, agents[0]!.userId);
    const ready = agents.map((agent) => {
      const config = effectiveConfig(base, agent.model, agent.ownConfig);
      return { agent, definition: newDefinition({ ...agent.definition, name: agent.name, config }) };
    });
    const rows = await tx
      .insertInto('agents')
      .values(
        ready.map(({ agent, definition }) => ({
          id: agent.id,
          user_id: agent.userId,
          name: agent.name,
          team_id: agent.teamId ?? null,
          driver: agent.driver ?? null,
          status: agent.status,
          plan: agent.plan,
          tier: agent.tier ?? null,
          size: agent.size ?? null,
          model: definition.config.model.default,
          ai_provider: agent.aiProvider ?? 'openrouter',
          own_config: agent.ownConfig ?? {},
          provider_key: agent.apiKey ? providerKeys.seal(agent.apiKey, `agent:${agent.id}`) : null,
          created_at: at,
          updated_at: at,
          ...sealed(agent.id, randomHex(TOKEN_BYTES)),
        })),
      )
      .returningAll()
      .execute();
    await tx
      .insertInto('agent_definitions')
      .values(
        ready.map(({ agent, definition }) => ({
          agent_id: agent.id,
          user_id: agent.userId,
          version: 1,
          definition: { ...definition },
        })),
      )
      .execute();
    const given = agents.flatMap(({ id, userId, channels: told = {} }) =>
      Object.entries(told).map(([channel, token]) => ({
        agent_id: id,
        user_id: userId,
        channel,
        sealed: channels.seal(token, `agent:${id}:${channel}`),
      })),
    );
    if (given.length > 0) await tx.insertInto('agent_channels').values(given).execute();
    return rows;
  }

  async function find(id: string, userId?: string): Promise<AgentRow | undefined> {
    const scope = userId === undefined ? db.system : db.user(userId);
    return scope.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirst();
  }

  async function change(id: string, values: Partial<AgentRow>, tx: SystemTx = db.system): Promise<AgentRow> {
    const changed = await tx
      .updateTable('agents')
      .set({ ...(values as object), updated_at: clock() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    if (!changed) throw new AppError(404, 'Agent not found');
    return changed;
  }

  async function definition(agent: AgentRow): Promise<AgentDefinition> {
    const row = await db.system
      .selectFrom('agent_definitions')
      .select('definition')
      .where('agent_id', '=', agent.id)
      .orderBy('version', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (!row) throw new AppError(404, 'Agent not found');
    return definitionSchema.parse(row.definition);
  }

  const registry: Registry = {
    admit: room.admit,
    dismiss: room.dismiss,
    discard: room.discard,
    find,
    change: (id, values) => change(id, values),
    definition,
    async add(userId, agents, limit) {
      try {
        const adding = new Set(agents.map(({ teamId, id }) => teamId ?? id)).size;
        const insertAll = (): Promise<AgentRow[]> =>
          db.asUser(userId, async (tx) => {
            await room.check(tx, userId, adding, limit);
            return insert(tx, agents, clock());
          });
        // Without a limit nobody needs to wait.
        if (limit === Infinity) return await insertAll();
        return await inTurn(userId, async (isAlone) => {
          // In a crowd most are refused, and one look tells.
          if (!isAlone) await room.count(db.user(userId), adding, limit);
          return insertAll();
        });
      } catch (error) {
        if (isDuplicate(error)) throw new AppError(409, takenBecause(error), {}, { cause: error });
        if ((error as { code?: string }).code === '23503')
          throw new AppError(404, 'User not found', {}, { cause: error });
        throw error;
      }
    },
    async get(id, userId) {
      const found = await find(id, userId);
      if (!found) throw new AppError(404, 'Agent not found');
      return found;
    },
    byHost: (label) =>
      db.system
        .selectFrom('agents')
        .select('id')
        .where(sql`lower(id)`, '=', label.toLowerCase())
        .executeTakeFirst(),
    list: (userId, page) =>
      (userId === undefined ? db.system : db.user(userId))
        .selectFrom('agents')
        .selectAll()
        .orderBy('created_at')
        .orderBy('id')
        .$if(page !== undefined, (query) => query.limit(page!.limit).offset(page!.offset))
        .execute(),
    deploying: () =>
      db.system
        .selectFrom('agents')
        .selectAll()
        .where('driver', '=', 'hosting')
        .where('status', '=', 'provisioning')
        .execute(),
    async delete(id) {
      await db.system.deleteFrom('agents').where('id', '=', id).execute();
    },
    configure: (agent, part, purpose = {}) =>
      db.asSystem(async (tx) => {
        const held = await tx
          .selectFrom('agents')
          .selectAll()
          .where('id', '=', agent.id)
          .forUpdate()
          .executeTakeFirst();
        if (!held) throw new AppError(404, 'Agent not found');
        const own = layered(held.own_config as ConfigPart, part);
        if (JSON.stringify(own).length > MAX_CONFIG)
          throw new AppError(400, `Config too large (max ${MAX_CONFIG} characters)`);
        const config = effectiveConfig(await userDefault(tx, held.user_id), held.model, own);
        const newest = await tx
          .selectFrom('agent_definitions')
          .select(['version', 'definition'])
          .where('agent_id', '=', agent.id)
          .orderBy('version', 'desc')
          .limit(1)
          .executeTakeFirstOrThrow();
        const next = { ...definitionSchema.parse(newest.definition), ...purpose, name: held.name, config };
        await tx
          .insertInto('agent_definitions')
          .values({
            agent_id: held.id,
            user_id: held.user_id,
            version: newest.version + 1,
            definition: next,
          })
          .execute();
        const changed = await tx
          .updateTable('agents')
          .set({ own_config: own, model: config.model.default, updated_at: clock() })
          .where('id', '=', held.id)
          .returningAll()
          .executeTakeFirstOrThrow();
        return { agent: changed, definition: next };
      }),
    snapshot: async (agent) => ({
      name: agent.name,
      model: agent.model,
      ownConfig: agent.own_config as ConfigPart,
      definition: await definition(agent),
    }),
    revert: (agent, was) =>
      db.asSystem(async (tx) => {
        const values = { name: was.name, model: was.model, own_config: was.ownConfig, updated_at: clock() };
        const changed = await tx
          .updateTable('agents')
          .set(values)
          .where('id', '=', agent.id)
          .returningAll()
          .executeTakeFirst();
        if (!changed) throw new AppError(404, 'Agent not found');
        // The same again makes no new version.
        await sql`insert into agent_definitions (agent_id, user_id, version, definition)
          select agent_id, user_id, version + 1, ${JSON.stringify(was.definition)}::jsonb from agent_definitions
          where agent_id = ${agent.id} and version = (select max(version) from agent_definitions where agent_id = ${agent.id})
            and definition <> ${JSON.stringify(was.definition)}::jsonb`.execute(tx);
        return changed;
      }),
    token: async (agent) =>
      agent.token_sealed ? tokens.open(agent.token_sealed, `agent:${agent.id}`) : registry.newToken(agent),
    async channelTokens(agent) {
      const rows = await db.system
        .selectFrom('agent_channels')
        .select(['channel', 'sealed'])
        .where('agent_id', '=', agent.id)
        .execute();
      return Object.fromEntries(
        rows.flatMap(({ channel, sealed: token }) =>
          token ? [[channel, channels.open(token, `agent:${agent.id}:${channel}`)]] : [],
        ),
      );
    },
    ownKey: ({ id, ai_provider: provider, provider_key: sealedKey }) =>
      sealedKey ? { provider, apiKey: providerKeys.open(sealedKey, `agent:${id}`) } : undefined,
    async newToken(agent, record) {
      const token = randomHex(TOKEN_BYTES);
      await db.asSystem(async (tx) => {
        await change(agent.id, sealed(agent.id, token) as Partial<AgentRow>, tx);
        await record?.(tx);
      });
      return token;
    },
  };
  return registry;
}

const takenBecause = (error: unknown): string =>
  (error as { constraint?: string }).constraint === 'agents_host_name'
    ? 'An agent whose id differs only in capitals exists already'
    : 'An agent with this id exists already';
