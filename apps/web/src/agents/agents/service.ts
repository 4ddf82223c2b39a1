import {
  AGENT_NAME_LENGTH,
  agentPurpose,
  backend as onBackend,
  type web,
  type TypesOf,
  type WebAgent,
} from '@troupe/contract';
import {
  agentLimit,
  entitle,
  isTier,
  paidPlan,
  readPlanName,
  TEAM_TOOLS,
  type AgentDefinition,
  type Subscriber,
  type TeamTool,
  type Tier,
} from '@troupe/domain';
import {
  LimitReached,
  makeTicket,
  type AgentRow,
  type ConfigPart,
  type Holder,
  type NewAgent as Added,
  type Roster,
} from '@troupe/roster';
import { AppError, iso, newId, type BackendClient, type Clock, type User } from '@troupe/kernel';
import { asAppError, reach } from '../../platform/reach.ts';
import type { KnownModels } from '../models/service.ts';

export interface AgentsDeps {
  roster: Roster;
  backend: BackendClient;
  backendUrl: string;
  agentsDomain: string;
  /** Only this machine reaches the platform. */
  loopback: boolean;
  sessionSecret: string;
  clock: Clock;
  subscriber: (user: User) => Subscriber;
  /** The model of agents that name none. */
  premium: string;
  disabled: boolean;
  models: KnownModels;
}

export type AgentsService = ReturnType<typeof createAgents>;

type NewAgent = TypesOf<typeof web.agents.provision>['body'];
/** What a new agent is, whoever it is for. */
type Kind = Pick<Added, 'model' | 'aiProvider' | 'apiKey' | 'definition' | 'ownConfig' | 'skills' | 'tags'>;
type NewPurpose = TypesOf<typeof web.agents.putPurpose>['body'];

const DEPLOY_TIMEOUT_MS = 15_000;
/** The premium model is served by its vendor. */
const PREMIUM_PROVIDER = 'anthropic';
const DISABLED = 'Provisioning is temporarily disabled. Contact support.';

/** Throws what the gate of plans says no with. */
export function requireEntitlement(...given: Parameters<typeof entitle>) {
  const answer = entitle(...given);
  if ('plan' in answer) return answer.plan;
  const { status, message, ...extra } = answer.refused;
  throw new AppError(status, message, extra);
}

/** What a user is shown of agents. */
function createShown(deps: AgentsDeps) {
  const { clock, models, agentsDomain } = deps;
  const direct = `${deps.backendUrl.replace(/^http/, 'ws')}/api/runtime/proxy`;
  /** Where the backend is may be known to this service only; an agent's own name is for everybody. */
  const socketOf = (id: string): string =>
    deps.loopback || /(?:^|\.)localhost$/.test(agentsDomain) ? `${direct}/${id}/ws` : `wss://${id}.${agentsDomain}/ws`;

  /** For whoever asks: it ends with what they asked with. */
  async function shown(user: User, rows: readonly AgentRow[]): Promise<WebAgent[]> {
    const answering = await models.answering();
    return rows.map((row) => {
      const answers = answering({ plan: row.plan, model: row.model, hasOwnKey: row.provider_key !== null });
      return { ...facts(user, row), answers };
    });
  }

  function facts(user: User, row: AgentRow): Omit<WebAgent, 'answers'> {
    const subject = { agentId: row.id, tokenHash: row.token_hash ?? '' };
    const ticket = makeTicket(deps.sessionSecret, subject, holderOf(user), clock());
    return {
      id: row.id,
      name: row.name,
      model: row.model,
      status: row.status,
      websocketUrl: `${socketOf(row.id)}?token=${ticket}`,
      createdAt: iso(row.created_at),
      updatedAt: iso(row.updated_at),
      plan: row.plan,
      teamId: row.team_id,
      url: `https://${row.id}.${agentsDomain}`,
      failure: row.failure,
      ownKeyOf: row.provider_key === null ? null : row.ai_provider,
      verified: row.verified_at !== null,
      tags: row.tags,
      outside: row.outside,
    };
  }

  return { shown, facts };
}

/** Rows of new agents, within plan and tier. */
function createAdding(deps: AgentsDeps) {
  const { roster, premium } = deps;
  /** The plan and, where one was named, the tier that a new agent is made under. */
  function wish(user: User, tier: string | undefined): { plan: ReturnType<typeof requireEntitlement>; tier?: Tier } {
    if (tier !== undefined && tier !== 'free' && (!readPlanName(tier) || (!isTier(tier) && readPlanName(tier)?.size)))
      throw new AppError(400, 'Invalid tier. Must be: starter, pro, or enterprise');
    const plan = requireEntitlement(deps.subscriber(user), tier);
    return { plan, ...(isTier(tier) && { tier }) };
  }

  const settingsOf = (given: NewAgent) => {
    const { model = premium, provider, own, key, definition } = readSettings(given, premium);
    return { model, aiProvider: provider, ...(key !== undefined && { apiKey: key }), definition, ownConfig: own };
  };

  async function add(user: User, given: Pick<NewAgent, 'name' | 'tier'>, kind: Kind): Promise<AgentRow> {
    const { plan, tier } = wish(user, given.tier);
    // A tier brings its own limit; without one the plan that the user pays for has the say.
    const counted = tier ? plan : paidPlan(plan, user.plan);
    const limit = user.isAdmin ? Infinity : agentLimit(counted, tier);
    const agent = {
      id: newId(),
      userId: user.id,
      name: given.name,
      plan,
      status: 'provisioning' as const,
      ...(tier && { tier }),
      ...kind,
    };
    try {
      const [row] = await roster.of(user.id).add([agent], limit);
      return row!;
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      const { current } = error;
      const named = tier ? `${tier} tier` : `${counted} plan`;
      throw new AppError(429, `Agent limit reached for ${named}`, { current, limit });
    }
  }

  return { add, settingsOf };
}

/** What an owner changes of an agent. */
function changing({ roster, backend, models }: AgentsDeps, { facts }: ReturnType<typeof createShown>) {
  return {
    async rename(user: User, id: string, name: string, address: string) {
      const own = roster.of(user.id);
      await own.get(id);
      await reach(backend.as(user, address).call(onBackend.agents.update, { params: { id }, body: { name } }));
      const { status, updatedAt } = facts(user, await own.get(id));
      return { success: true as const, agent: { id, name, status, updatedAt } };
    },

    async tag(user: User, id: string, tags: string[], address: string) {
      await roster.of(user.id).get(id);
      await reach(backend.as(user, address).call(onBackend.agents.update, { params: { id }, body: { tags } }));
      return { success: true as const, tags };
    },

    async remove(user: User, id: string, address: string) {
      await roster.of(user.id).get(id);
      await reach(backend.as(user, address).call(onBackend.agents.remove, { params: { id } }));
      return { success: true as const, deleted: id };
    },

    async config(user: User, id: string) {
      const own = roster.of(user.id);
      const { config } = await own.definition(await own.get(id));
      return { config, status: 'ok' as const };
    },

    async configure(user: User, id: string, body: ConfigPart, force: boolean, address: string) {
      const row = await roster.of(user.id).get(id);
      const given = isPart(body['config']) ? body['config'] : body;
      if (row.provider_key === null) await models.check(namedModels({ config: given }));
      const change = { config: given, force };
      await reach(backend.as(user, address).call(onBackend.agents.update, { params: { id }, body: change }));
      const { config } = await roster.of(user.id).definition(row);
      return { config, status: 'updated' as const };
    },

    async purpose(user: User, id: string) {
      const own = roster.of(user.id);
      return purposeOf(await own.definition(await own.get(id)));
    },

    async setPurpose(user: User, id: string, purpose: NewPurpose, force: boolean, address: string) {
      const row = await roster.of(user.id).get(id);
      const change = { purpose, force };
      await reach(backend.as(user, address).call(onBackend.agents.update, { params: { id }, body: change }));
      return purposeOf(await roster.of(user.id).definition(row));
    },
  };
}

function purposeOf({ instruction, tools, traits = {} }: AgentDefinition) {
  const commands = Object.entries(traits.commands ?? {}).map(([name, { description = '' }]) => ({ name, description }));
  return { instruction, tools, welcome: traits.welcome ?? null, commands };
}

/** The gateway tokens of agents. */
function tokens({ roster }: AgentsDeps, rotated: (user: User, id: string, address: string) => Promise<string>) {
  return {
    async rotateToken(user: User, id: string, address: string) {
      await roster.of(user.id).get(id);
      return { success: true as const, token: await rotated(user, id, address) };
    },
    async token(user: User, id: string, address: string) {
      const own = roster.of(user.id);
      return { token: own.token(await own.get(id)) ?? (await rotated(user, id, address)) };
    },
  };
}

/** New agents, from settings or like another one. */
function making(deps: AgentsDeps, { facts }: ReturnType<typeof createShown>) {
  const { roster, backend, models } = deps;
  const { add, settingsOf } = createAdding(deps);

  async function begin(user: User, row: AgentRow, address: string) {
    const { id: agentId, name, plan, model, ai_provider: aiProvider } = row;
    try {
      await backend.as(user, address).call(onBackend.deployments.create, {
        body: { agentId, config: { name, plan, model, aiProvider } },
        timeout: DEPLOY_TIMEOUT_MS,
      });
    } catch (error) {
      const known = asAppError(error);
      // Refused: nothing is left of it, unless somebody has taken it up meanwhile.
      if (known.status < 500) {
        await roster.of(user.id).discard(agentId);
        throw known;
      }
      await roster.of(user.id).giveUp(agentId, known.message);
      throw new AppError(known.status, known.message, { ...known.extra, agentId }, { cause: error });
    }
    const { status, websocketUrl, createdAt } = facts(user, await roster.of(user.id).get(agentId));
    return { success: true as const, agent: { id: agentId, name, status, websocketUrl, model, createdAt } };
  }

  return {
    async provision(user: User, given: NewAgent, address: string) {
      if (deps.disabled) throw new AppError(503, DISABLED);
      // A model of the caller's own account is the provider's to know.
      if (text(given.config['apiKey']) === undefined) await models.check(namedModels(given));
      return begin(user, await add(user, given, settingsOf(given)), address);
    },

    async duplicate(user: User, id: string, given: { name?: string | undefined }, address: string) {
      if (deps.disabled) throw new AppError(503, DISABLED);
      const own = roster.of(user.id);
      const row = await own.get(id);
      const kind = kindOf(row, await own.definition(row), own.ownKey(row)?.apiKey);
      return begin(user, await add(user, { name: given.name ?? copyName(row.name) }, kind), address);
    },
  };
}

const COPY = ' copy';

/** Within the length of a name, which is counted in letters. */
const copyName = (name: string): string =>
  `${Array.from(name)
    .slice(0, AGENT_NAME_LENGTH - COPY.length)
    .join('')
    .trimEnd()}${COPY}`;

/** What another agent has that is made like this one. Its team is not: who leads to whom is said there. */
function kindOf(row: AgentRow, definition: AgentDefinition, apiKey: string | undefined): Kind {
  const { name: _name, config: _config, team: _team, memoryShared: _shared, skills = [], ...rest } = definition;
  return {
    model: row.model,
    aiProvider: row.ai_provider,
    ...(apiKey !== undefined && { apiKey }),
    definition: rest,
    // Also what came from the owner's defaults at the time stays as it was.
    ownConfig: { ...definition.config },
    ...(skills.length > 0 && { skills: { names: skills.map(({ name }) => name), lenient: true } }),
    tags: row.tags,
  };
}

export function createAgents(deps: AgentsDeps) {
  const { roster, backend } = deps;
  const seen = createShown(deps);
  const { shown } = seen;

  async function rotated(user: User, id: string, address: string): Promise<string> {
    const { token } = await reach(backend.as(user, address).call(onBackend.lifecycle.rotateToken, { params: { id } }));
    return token;
  }

  return {
    async get(user: User, id: string): Promise<WebAgent> {
      const [agent] = await shown(user, [await roster.of(user.id).get(id)]);
      return agent!;
    },
    async list(user: User, { limit, offset }: { limit: number; offset: number }) {
      const rows = await roster.of(user.id).list({ limit: limit + 1, offset });
      const agents = await shown(user, rows.slice(0, limit));
      return { agents, count: agents.length, hasMore: rows.length > limit };
    },

    ...making(deps, seen),
    ...changing(deps, seen),
    ...tokens(deps, rotated),
  };
}

function holderOf({ sessionId, keyId }: User): Holder {
  if (sessionId !== null) return { kind: 'session', id: sessionId };
  if (keyId === undefined) throw new Error('a user came with neither a session nor a key');
  return { kind: 'key', id: keyId };
}

const isPart = (value: unknown): value is ConfigPart =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The models that somebody names, in whichever form. */
export function namedModels({ model, config }: Pick<NewAgent, 'config'> & { model?: string }): string[] {
  const inConfig = config['model'];
  const part = isPart(inConfig) ? inConfig : { default: inConfig };
  const fallbacks = Array.isArray(part['fallbacks']) ? (part['fallbacks'] as unknown[]) : [];
  return [model === 'custom' ? undefined : model, part['default'], ...fallbacks].flatMap((name) => text(name) ?? []);
}

/** The settings of a new agent: what of them is definition, what is configuration, and whose model it is. */
function readSettings({ model: named, config }: NewAgent, premium: string) {
  const { instruction, tools, aiProvider, apiKey, plan: _plan, model: inConfig, ...rest } = config;
  const custom = text(inConfig) ?? (isPart(inConfig) ? text(inConfig['default']) : undefined);
  const model = named === undefined || named === 'custom' ? custom : named;
  const isPremium = (model ?? premium) === premium && text(apiKey) === undefined;
  const provider = isPremium ? PREMIUM_PROVIDER : (text(aiProvider) ?? 'openrouter');
  const own: ConfigPart = { ...rest, ...(isPart(inConfig) && { model: inConfig }) };
  if (model !== undefined) own['model'] = { ...(isPart(inConfig) ? inConfig : {}), default: model };
  return { model, provider, own, key: text(apiKey), definition: givenPurpose(instruction, tools) };
}

/** What it is for, under the same bounds as when it is changed later. */
function givenPurpose(instruction: unknown, tools: unknown): Partial<Pick<AgentDefinition, 'instruction' | 'tools'>> {
  const read = agentPurpose.safeParse({
    instruction: text(instruction),
    tools: Array.isArray(tools) ? tools : undefined,
  });
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new AppError(400, `Invalid config object: ${issue?.path.join('.') ?? ''} ${issue?.message.trim() ?? ''}`);
  }
  const { instruction: words, tools: list } = read.data;
  return { ...(words !== undefined && { instruction: words }), ...(list && { tools: knownTools(list) }) };
}

export function knownTools(tools: readonly string[]): TeamTool[] {
  const unknown = tools.find((tool) => !TEAM_TOOLS.some((known) => known === tool));
  if (unknown !== undefined)
    throw new AppError(400, `Unknown tool ${unknown || 'without a name'}. Known are: ${TEAM_TOOLS.join(', ')}`);
  return tools as TeamTool[];
}
