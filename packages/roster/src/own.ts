import type { OwnKey } from '@troupe/ai';
import { isDuplicate, type Database, type UserTx } from '@troupe/db';
import { newDefinition, type AgentDefinition, type VersionedDefinition } from '@troupe/domain';
import { AppError, type Clock } from '@troupe/kernel';
import type { AgentRow, NewAgent } from './agent.ts';
import { effectiveConfig } from './config.ts';
import { createInTurn } from './in-turn.ts';
import { definitionsOf, findAgent, got, listAgents, newestDefinition, userDefault, type Page } from './reads.ts';
import type { Room } from './room.ts';
import type { Seals } from './seals.ts';
import { skillsFor } from './skills.ts';

type Drafted = Pick<NewAgent, 'name' | 'model' | 'definition' | 'ownConfig'>;

/** The agents of one user, under that user's scope: nobody else's row can be read or written here. */
export interface OwnAgents {
  find: (id: string) => Promise<AgentRow | undefined>;
  /** The same; throws 404. */
  get: (id: string) => Promise<AgentRow>;
  /** Newest last; all of them unless a page is asked for. */
  list: (page?: Page) => Promise<AgentRow[]>;
  definition: (agent: AgentRow) => Promise<AgentDefinition>;
  /** The newest first; all that are kept unless said. */
  definitions: (agent: Pick<AgentRow, 'id'>, most?: number) => Promise<VersionedDefinition[]>;
  /** The gateway token; undefined: the one it had was ended, and rotating makes another. */
  token: (agent: AgentRow) => string | undefined;
  /** What a new agent would run with; nothing is saved. */
  draft: (agent: Drafted) => Promise<AgentDefinition>;
  /** All or none of them, and never more than `limit` together with those that are there. */
  add: (agents: readonly NewAgent[], limit: number) => Promise<AgentRow[]>;
  /** One that was made and that nobody could be asked to start is in error, unless somebody has taken it up meanwhile. */
  giveUp: (id: string, failure: string) => Promise<void>;
  /** Deletes one that was made and never came to a start. */
  discard: (id: string) => Promise<void>;
  /** The owner's own account that it thinks on. */
  ownKey: Seals['ownKey'];
  /** Each of them thinks on that account from its next call on; null: on the platform's again. All or none: throws 404. */
  giveKey: (ids: readonly string[], key: OwnKey | null, record: (tx: UserTx) => Promise<void>) => Promise<AgentRow[]>;
}

export interface OwnDeps {
  db: Database;
  clock: Clock;
  seals: Seals;
  room: Room;
}

function createInsert({ seals }: OwnDeps) {
  async function insert(tx: UserTx, agents: readonly NewAgent[], at: Date): Promise<AgentRow[]> {
    const base = await userDefault(tx, agents[0]!.userId);
    const skills = await skillsFor(tx, agents[0]!.userId, agents, at);
    const ready = agents.map((agent, index) => {
      const config = effectiveConfig(base, agent.model, agent.ownConfig);
      const given = skills[index] ?? [];
      const own = { ...agent.definition, ...(given.length > 0 && { skills: given }) };
      return { agent, definition: newDefinition({ ...own, name: agent.name, config }) };
    });
    const rows = await tx
      .insertInto('agents')
      .values(ready.map(({ agent, definition }) => rowOf(seals, agent, definition, at)))
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
    const given = agents.flatMap(({ id, userId, channels = {} }) =>
      Object.entries(channels).map(([channel, token]) => ({
        agent_id: id,
        user_id: userId,
        channel,
        sealed: seals.sealChannel(id, channel, token),
      })),
    );
    if (given.length > 0) await tx.insertInto('agent_channels').values(given).execute();
    return rows;
  }

  return insert;
}

export function createOwn(deps: OwnDeps): (userId: string) => OwnAgents {
  const { db, clock, seals, room } = deps;
  const inTurn = createInTurn();

  const insert = createInsert(deps);

  async function add(userId: string, agents: readonly NewAgent[], limit: number): Promise<AgentRow[]> {
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
  }

  return (userId) => ({
    find: (id) => findAgent(db.user(userId), id),
    get: async (id) => got(await findAgent(db.user(userId), id)),
    list: (page) => listAgents(db.user(userId), page),
    definition: ({ id }) => newestDefinition(db.user(userId), id),
    definitions: ({ id }, most = 50) => definitionsOf(db.user(userId), id, most),
    token: seals.token,
    draft: (agent) => drafted(db.user(userId), userId, agent),
    add: (agents, limit) => add(userId, agents, limit),
    async giveUp(id, failure) {
      await db
        .user(userId)
        .updateTable('agents')
        .set({ status: 'error', failure, updated_at: clock() })
        .where('id', '=', id)
        .where('status', '=', 'provisioning')
        .execute();
    },
    discard: (id) => room.discard(db.user(userId), id),
    ownKey: seals.ownKey,
    giveKey: (ids, key, record) =>
      db.asUser(userId, async (tx) => {
        const wanted = [...new Set(ids)].toSorted();
        const changed = [];
        for (const id of wanted) changed.push(await giveKey(tx, deps, id, key));
        await record(tx);
        return changed;
      }),
  });
}

async function drafted(tx: UserTx, userId: string, agent: Drafted): Promise<AgentDefinition> {
  const { name, model, definition, ownConfig } = agent;
  return newDefinition({
    ...definition,
    name,
    config: effectiveConfig(await userDefault(tx, userId), model, ownConfig),
  });
}

async function giveKey(tx: UserTx, { clock, seals }: OwnDeps, id: string, key: OwnKey | null): Promise<AgentRow> {
  const values = key
    ? { ai_provider: key.provider, provider_key: seals.sealOwnKey(id, key.apiKey) }
    : { provider_key: null };
  const changed = await tx
    .updateTable('agents')
    .set({ ...values, updated_at: clock() })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return got(changed);
}

const rowOf = (seals: Seals, agent: NewAgent, definition: AgentDefinition, at: Date) => ({
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
  tags: [...(agent.tags ?? [])],
  provider_key: agent.apiKey ? seals.sealOwnKey(agent.id, agent.apiKey) : null,
  created_at: at,
  updated_at: at,
  ...seals.newToken(agent.id).columns,
});

const takenBecause = (error: unknown): string =>
  (error as { constraint?: string }).constraint === 'agents_host_name'
    ? 'An agent whose id differs only in capitals exists already'
    : 'An agent with this id exists already';
