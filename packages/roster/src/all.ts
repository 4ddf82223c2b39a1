import { sql } from 'kysely';
import type { Database, SystemTx } from '@troupe/db';
import {
  definitionSchema,
  isSameRule,
  MOST_KNOWLEDGE,
  MOST_STANDING,
  type AgentDefinition,
  type StandingRule,
} from '@troupe/domain';
import { AppError, type Clock } from '@troupe/kernel';
import type { AgentChange, AgentRow, AgentSnapshot, CollectionChange, Purpose, SkillChange } from './agent.ts';
import { definitionDigest, effectiveConfig, layered, type ConfigPart } from './config.ts';
import { findAgent, got, listAgents, newestDefinition, userDefault, type Page } from './reads.ts';
import type { Room } from './room.ts';
import type { Seals } from './seals.ts';
import { checkSkillCount, librarySkills, refOf } from './skills.ts';

/** All of an agent's own settings together: each change is kept whole. */
const MAX_CONFIG = 65_536;
const ABANDONED_AT_ONCE = 100;

/** The agents of everybody, under the system's scope: for what runs them, and for whoever holds the internal key. */
export interface AllAgents extends Pick<Room, 'admit' | 'dismiss'> {
  find: (id: string) => Promise<AgentRow | undefined>;
  /** The same; throws 404. */
  get: (id: string) => Promise<AgentRow>;
  /** Newest last. */
  list: (page: Page) => Promise<AgentRow[]>;
  /** The one whose host name begins so, whatever the capitals. */
  byHost: (label: string) => Promise<Pick<AgentRow, 'id'> | undefined>;
  /** Those that were put on the hosting platform and are not known to run. */
  deploying: () => Promise<AgentRow[]>;
  /** Those that were made before then and that nobody has started. */
  abandoned: (before: Date) => Promise<AgentRow[]>;
  change: (id: string, values: Partial<AgentRow>) => Promise<AgentRow>;
  delete: (id: string) => Promise<void>;
  /** Deletes one that was made and never came to a start. */
  discard: (id: string) => Promise<void>;
  definition: (agent: AgentRow) => Promise<AgentDefinition>;
  /** Puts changes on top of the agent's own configuration and purpose; saves what it runs with as a new version. */
  configure: (
    agent: AgentRow,
    change: ConfigPart,
    purpose?: Purpose,
  ) => Promise<{ agent: AgentRow; definition: AgentDefinition }>;
  /** What it would run with after a change; nothing is saved. */
  preview: (agent: AgentRow, change: AgentChange) => Promise<AgentDefinition>;
  /** Makes the change that came to this digest, all of it at once, while the agent runs and is the same; else: why not. */
  take: (
    agent: AgentRow,
    change: AgentChange,
    digest: string,
  ) => Promise<{ agent: AgentRow; definition: AgentDefinition } | { refused: string }>;
  changeCollection: (
    agent: AgentRow,
    change: CollectionChange,
  ) => Promise<{ agent: AgentRow; definition: AgentDefinition }>;
  /** Gives it the newest version of a skill of its owner's, or takes one away; within what its plan allows. */
  changeSkill: (agent: AgentRow, change: SkillChange) => Promise<{ agent: AgentRow; definition: AgentDefinition }>;
  /** Lets it do something without asking; what others allow in the same moment stays. */
  addRule: (agent: AgentRow, rule: StandingRule) => Promise<{ agent: AgentRow; definition: AgentDefinition }>;
  /** What a backup keeps of the agent beside its data. */
  snapshot: (agent: AgentRow) => Promise<AgentSnapshot>;
  /** Makes it so again, as a new version; status, plan and tokens are left alone. */
  revert: (agent: AgentRow, was: AgentSnapshot) => Promise<AgentRow>;
  /** The gateway token; made if there is none. */
  token: (agent: AgentRow) => Promise<string>;
  /** Rotates it: the old one opens nothing from now on. `record` is part of the same transaction. */
  newToken: (agent: AgentRow, record?: (tx: SystemTx) => Promise<void>) => Promise<string>;
  /** The tokens of its messaging channels, by channel. */
  channelTokens: (agent: AgentRow) => Promise<Record<string, string>>;
  /** Seals what opens a channel; `anew`: what the channel of that kind remembers is another's, and goes. */
  setChannel: (agent: AgentRow, channel: string, opens: string, anew?: string) => Promise<void>;
  /** What opens it goes, and what it remembers. */
  removeChannel: (agent: AgentRow, channel: string, kind: string) => Promise<void>;
  ownKey: Seals['ownKey'];
}

export interface AllDeps {
  db: Database;
  clock: Clock;
  seals: Seals;
  room: Room;
}

/** What is written of any agent. */
function createChanging({ db, clock, seals }: AllDeps) {
  async function change(id: string, values: Partial<AgentRow>, tx: SystemTx = db.system): Promise<AgentRow> {
    const changed = await tx
      .updateTable('agents')
      .set({ ...(values as object), updated_at: clock() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return got(changed);
  }

  const definition: AllAgents['definition'] = ({ id }) => newestDefinition(db.system, id);

  async function newToken(agent: AgentRow, record?: (tx: SystemTx) => Promise<void>): Promise<string> {
    const { token, columns } = seals.newToken(agent.id);
    await db.asSystem(async (tx) => {
      await change(agent.id, columns as Partial<AgentRow>, tx);
      await record?.(tx);
    });
    return token;
  }

  return { change, definition, newToken };
}

/** Agents, whoever owns them. */
function finding({ db }: AllDeps): Pick<AllAgents, 'find' | 'get' | 'list' | 'byHost' | 'deploying' | 'abandoned'> {
  return {
    find: (id) => findAgent(db.system, id),
    get: async (id) => got(await findAgent(db.system, id)),
    list: (page) => listAgents(db.system, page),
    byHost: (label) =>
      db.system
        .selectFrom('agents')
        .select('id')
        .where(sql`lower(id)`, '=', label.toLowerCase())
        .executeTakeFirst(),
    deploying: () =>
      db.system
        .selectFrom('agents')
        .selectAll()
        .where('driver', '=', 'hosting')
        .where('status', '=', 'provisioning')
        .execute(),
    abandoned: (before) =>
      db.system
        .selectFrom('agents')
        .selectAll()
        .where('status', '=', 'provisioning')
        .where('plan', '!=', 'free')
        .where('driver', 'is', null)
        .where('updated_at', '<', before)
        .limit(ABANDONED_AT_ONCE)
        .execute(),
  };
}

/** What opens the agents' channels. */
function keepingChannels({ db, seals }: AllDeps): Pick<AllAgents, 'channelTokens' | 'setChannel' | 'removeChannel'> {
  return {
    async channelTokens({ id }) {
      const rows = await db.system
        .selectFrom('agent_channels')
        .select(['channel', 'sealed'])
        .where('agent_id', '=', id)
        .execute();
      return Object.fromEntries(
        rows.flatMap(({ channel, sealed }) => (sealed ? [[channel, seals.openChannel(id, channel, sealed)]] : [])),
      );
    },
    setChannel: ({ id, user_id }, channel, opens, anew) =>
      db.asSystem(async (tx) => {
        if (anew !== undefined)
          await tx
            .updateTable('agent_channels')
            .set({ state: {} })
            .where('agent_id', '=', id)
            .where('channel', '=', anew)
            .execute();
        const sealed = seals.sealChannel(id, channel, opens);
        await tx
          .insertInto('agent_channels')
          .values({ agent_id: id, user_id, channel, sealed })
          .onConflict((conflict) => conflict.columns(['agent_id', 'channel']).doUpdateSet({ sealed }))
          .execute();
      }),
    async removeChannel({ id }, channel, kind) {
      await db.system
        .deleteFrom('agent_channels')
        .where('agent_id', '=', id)
        .where('channel', 'in', [channel, kind])
        .execute();
    },
  };
}

export function createAll(deps: AllDeps): AllAgents {
  const { db, clock, seals, room } = deps;
  const changing = createChanging(deps);
  const { change, definition, newToken } = changing;

  return {
    admit: room.admit,
    dismiss: room.dismiss,
    ...finding(deps),
    change: (id, values) => change(id, values),
    async delete(id) {
      await db.system.deleteFrom('agents').where('id', '=', id).execute();
    },
    discard: (id) => room.discard(db.system, id),
    definition,
    configure: (agent, part, purpose = {}) =>
      db.asSystem((tx) => configure(tx, agent.id, { part, change: async () => purpose, at: clock() })),
    preview: (agent, change) =>
      db.asSystem(async (tx) => (await nextOf(tx, agent.id, changingBy(tx, change))).definition),
    take: (agent, change, digest) =>
      db.asSystem(async (tx) => {
        const next = await nextOf(tx, agent.id, changingBy(tx, change));
        if (next.held.status !== 'running') return { refused: 'The agent is not running' };
        if (definitionDigest(next.definition) !== digest)
          return { refused: 'The agent was changed meanwhile. Try the cases again' };
        return save(tx, next, clock());
      }),
    changeCollection: (agent, collection) =>
      db.asSystem((tx) =>
        configure(tx, agent.id, {
          part: {},
          change: (held, was) => collectionsAfter(tx, held, was, collection),
          at: clock(),
        }),
      ),
    changeSkill: (agent, skill) =>
      db.asSystem((tx) =>
        configure(tx, agent.id, { part: {}, change: (held, was) => skillsAfter(tx, held, was, skill), at: clock() }),
      ),
    addRule: (agent, rule) =>
      db.asSystem((tx) => configure(tx, agent.id, { part: {}, rule, change: async () => ({}), at: clock() })),
    snapshot: async (agent) => ({
      name: agent.name,
      model: agent.model,
      ownConfig: agent.own_config as ConfigPart,
      definition: await definition(agent),
    }),
    revert: (agent, was) => db.asSystem((tx) => revert(tx, agent.id, was, clock())),
    token: async (agent) => seals.token(agent) ?? newToken(agent),
    newToken,
    ...keepingChannels(deps),
    ownKey: seals.ownKey,
  };
}

/** Its collections after a change, under the same lock. */
async function collectionsAfter(
  tx: SystemTx,
  { user_id: owner }: AgentRow,
  { knowledge = [] }: AgentDefinition,
  { id, on }: CollectionChange,
): Promise<Pick<AgentDefinition, 'knowledge'>> {
  const others = knowledge.filter((one) => one.id !== id);
  if (!on) return { knowledge: others };
  const found = await tx
    .selectFrom('knowledge_collections')
    .select(['id', 'name'])
    .where('id', '=', id)
    .where('user_id', '=', owner)
    .executeTakeFirst();
  if (!found) throw new AppError(404, 'Collection not found');
  if (others.length >= MOST_KNOWLEDGE) throw new AppError(400, `An agent has ${MOST_KNOWLEDGE} collections at most`);
  return { knowledge: [...others, found] };
}

/** Its skills after a change; the agent's row is held, so that two changes come one after the other. */
async function skillsAfter(
  tx: SystemTx,
  { user_id: owner, plan }: AgentRow,
  { skills = [] }: AgentDefinition,
  { id, on, digest }: SkillChange,
): Promise<Pick<AgentDefinition, 'skills'>> {
  if (!on) return { skills: skills.filter((one) => one.id !== id) };
  const [found] = await librarySkills(tx, owner, { ids: [id] });
  if (!found) throw new AppError(404, 'Skill not found');
  if (digest !== undefined && digest !== found.digest)
    throw new AppError(409, 'The skill has changed since: look at it again');
  const ref = refOf(found);
  const isThere = skills.some((one) => one.id === id);
  checkSkillCount(skills.length + (isThere ? 0 : 1), plan);
  return { skills: isThere ? skills.map((one) => (one.id === id ? ref : one)) : [...skills, ref] };
}

/** The own configuration with a rule beside those that it has. */
function withRule(own: ConfigPart, standing: readonly StandingRule[] = [], rule?: StandingRule): ConfigPart {
  if (!rule || standing.some((one) => isSameRule(one, rule))) return own;
  if (standing.length >= MOST_STANDING)
    throw new AppError(400, `An agent has at most ${MOST_STANDING} rules: remove one in its settings`);
  return layered(own, { safety: { standing: [...standing, rule] } });
}

interface Changing {
  part: ConfigPart;
  rule?: StandingRule | undefined;
  change: (held: AgentRow, was: AgentDefinition) => Promise<Partial<AgentDefinition>>;
}

/** A change of any kind, under the agent's lock. */
function changingBy(tx: SystemTx, { config = {}, purpose = {}, skill, collection, rule }: AgentChange): Changing {
  return {
    part: config,
    rule,
    change: async (held, was) => ({
      ...purpose,
      ...(skill && (await skillsAfter(tx, held, was, skill))),
      ...(collection && (await collectionsAfter(tx, held, was, collection))),
    }),
  };
}

/** What the agent has after a change; its row is held until the transaction ends. */
async function nextOf(tx: SystemTx, agentId: string, { part, change, rule }: Changing) {
  const held = got(await tx.selectFrom('agents').selectAll().where('id', '=', agentId).forUpdate().executeTakeFirst());
  const below = await userDefault(tx, held.user_id);
  const changed = layered(held.own_config as ConfigPart, part);
  const own = withRule(changed, effectiveConfig(below, held.model, changed).safety.standing, rule);
  if (JSON.stringify(own).length > MAX_CONFIG)
    throw new AppError(400, `Config too large (max ${MAX_CONFIG} characters)`);
  const config = effectiveConfig(below, held.model, own);
  const newest = await tx
    .selectFrom('agent_definitions')
    .select(['version', 'definition'])
    .where('agent_id', '=', agentId)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  const was = definitionSchema.parse(newest.definition);
  const definition: AgentDefinition = { ...was, ...(await change(held, was)), name: held.name, config };
  return { held, own, version: newest.version + 1, definition };
}

async function configure(
  tx: SystemTx,
  agentId: string,
  { at, ...changing }: Changing & { at: Date },
): Promise<{ agent: AgentRow; definition: AgentDefinition }> {
  return save(tx, await nextOf(tx, agentId, changing), at);
}

async function save(
  tx: SystemTx,
  { held, own, version, definition }: Awaited<ReturnType<typeof nextOf>>,
  at: Date,
): Promise<{ agent: AgentRow; definition: AgentDefinition }> {
  await tx
    .insertInto('agent_definitions')
    .values({ agent_id: held.id, user_id: held.user_id, version, definition })
    .execute();
  const agent = await tx
    .updateTable('agents')
    .set({ own_config: own, model: definition.config.model.default, updated_at: at })
    .where('id', '=', held.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { agent, definition };
}

async function revert(tx: SystemTx, agentId: string, was: AgentSnapshot, at: Date): Promise<AgentRow> {
  const values = { name: was.name, model: was.model, own_config: was.ownConfig, updated_at: at };
  const changed = got(
    await tx.updateTable('agents').set(values).where('id', '=', agentId).returningAll().executeTakeFirst(),
  );
  // The same again makes no new version.
  await sql`insert into agent_definitions (agent_id, user_id, version, definition)
    select agent_id, user_id, version + 1, ${JSON.stringify(was.definition)}::jsonb from agent_definitions
    where agent_id = ${agentId} and version = (select max(version) from agent_definitions where agent_id = ${agentId})
      and definition <> ${JSON.stringify(was.definition)}::jsonb`.execute(tx);
  return changed;
}
