import type { backend, TypesOf } from '@troupe/contract';
import { isOrphan, type Database } from '@troupe/db';
import { FREE_PLAN, isPlan, USUAL_TOOLSETS, type AgentDefinition, type VersionedDefinition } from '@troupe/domain';
import type { Fleet } from '@troupe/fleet';
import { AppError, iso, isoOrNull, newId, type Clock } from '@troupe/kernel';
import type { AgentRow, Roster } from '@troupe/roster';
import type { AgentService, AgentServiceDeps, Caller } from '../agents/service.ts';
import type { KillSwitch } from '../kill-switch.ts';
import { changed, paged, type ListQuery } from './paging.ts';
import type { ManagedSkills } from './skills.ts';
import * as store from './store.ts';

export interface ManagedDeps {
  /** The library of its owner. */
  skills: Pick<ManagedSkills, 'wanted'>;
  db: Database;
  clock: Clock;
  roster: Roster;
  fleet: Fleet;
  agents: AgentService;
  gate: AgentServiceDeps['gate'];
  refuseWhenDisabled: KillSwitch;
}

type Create = TypesOf<typeof backend.managed.createAgent>['body'];
type Update = TypesOf<typeof backend.managed.updateAgent>['body'];
type NewEnvironment = TypesOf<typeof backend.managed.createEnvironment>['body'];
type ChangedEnvironment = TypesOf<typeof backend.managed.updateEnvironment>['body'];
type Given = NonNullable<Create['tools']>[number];

export type Managed = ReturnType<typeof createManaged>;

/** Agents and environments as clients of Managed Agents know them. */
export function createManaged(deps: ManagedDeps) {
  const shown = createShown(deps);
  return { ...making(deps, shown), ...reading(deps, shown), ...environmentsOf(deps) };
}

/** All of it is somebody's. */
export function ownerOf(userId: string | undefined): string {
  if (userId === undefined) throw new AppError(400, 'An API key of a user is needed');
  return userId;
}

const customOf = (tools: readonly Given[]): object[] => tools.filter(({ type }) => type === 'custom');

/**
 * What the toolsets stand for here; without its own an agent has no tools of its own. Tools of an MCP server are asked
 * about unless it is said that they are not, as there.
 */
function purposeOf(
  tools: readonly Given[],
  servers: readonly { name: string }[],
): Pick<AgentDefinition, 'tools' | 'approvals'> {
  const toolset = tools.find((tool) => tool.type === 'agent_toolset_20260401');
  const isOn = toolset !== undefined && toolset.default_config?.enabled !== false;
  const isAsked = toolset?.default_config?.permission_policy?.type === 'always_ask';
  const offered = tools.filter((tool) => tool.type === 'mcp_toolset');
  const names = new Set(offered.map((tool) => tool.mcp_server_name));
  if (names.size !== offered.length || names.size !== servers.length || servers.some(({ name }) => !names.has(name)))
    throw new AppError(400, 'tools must have one mcp_toolset for each of mcp_servers, and for nothing else');
  const ofServers = offered.map(({ mcp_server_name: name, default_config: config }) => [
    name,
    config?.permission_policy?.type === 'always_allow' ? ('allow' as const) : ('ask' as const),
  ]);
  return {
    tools: isOn ? [...USUAL_TOOLSETS] : [],
    approvals: {
      ...(isAsked && { '*': 'ask' }),
      ...(Object.fromEntries(ofServers) as Record<string, 'allow' | 'ask'>),
    },
  };
}

const policyOf = (rule: string | undefined) => ({ type: rule === 'ask' ? 'always_ask' : 'always_allow' });

const urlServers = (servers: AgentDefinition['mcpServers']) =>
  servers.flatMap(({ name, url }) => (url === undefined ? [] : [{ type: 'url' as const, name, url }]));

function shapeOf(row: AgentRow, { version, definition }: VersionedDefinition, beside: store.Beside) {
  const { instruction, description, tools, approvals, mcpServers, config, skills = [] } = definition;
  const servers = urlServers(mcpServers);
  const own = {
    type: 'agent_toolset_20260401',
    configs: [],
    default_config: { enabled: true, permission_policy: policyOf(approvals['*']) },
  };
  const theirs = servers.map(({ name }) => ({
    type: 'mcp_toolset',
    mcp_server_name: name,
    configs: [],
    default_config: { enabled: true, permission_policy: policyOf(approvals[name] ?? approvals['*']) },
  }));
  return {
    type: 'agent' as const,
    id: row.id,
    name: definition.name,
    description: description || null,
    system: instruction || null,
    model: { id: config.model.default, speed: 'standard' as const },
    tools: [...(tools.length > 0 ? [own] : []), ...theirs, ...beside.tools] as { type: string }[],
    mcp_servers: servers,
    skills: skills.map(({ id, digest }) => ({ type: 'custom' as const, skill_id: id, version: digest })),
    multiagent: null,
    metadata: beside.metadata,
    version,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    archived_at: isoOrNull(beside.archived_at),
  };
}

/** An agent as it is now; undefined: it was deleted meanwhile. */
const createLook =
  ({ db, roster }: ManagedDeps) =>
  async (userId: string, row: AgentRow) => {
    const [newest] = await roster.of(userId).definitions(row, 1);
    return newest && shapeOf(row, newest, await store.beside(db, userId, row.id));
  };
const createShown = (deps: ManagedDeps) => {
  const look = createLook(deps);
  return async (userId: string, row: AgentRow) => {
    const found = await look(userId, row);
    if (!found) throw new AppError(404, 'Agent not found');
    return found;
  };
};
type ShownAgent = ReturnType<typeof createShown>;

function making(deps: ManagedDeps, shown: ShownAgent) {
  const { db, roster, fleet, agents, refuseWhenDisabled } = deps;
  const change = createChange(deps);
  return {
    async createAgent(caller: Caller & { userId: string }, body: Create) {
      refuseWhenDisabled();
      if (!isPlan(caller.plan)) throw new AppError(FREE_PLAN.status, FREE_PLAN.message, { code: 'PAYMENT_REQUIRED' });
      const { userId } = caller;
      const id = newId();
      const model = typeof body.model === 'string' ? body.model : body.model.id;
      const tools = body.tools ?? [];
      const servers = body.mcp_servers ?? [];
      const wanted = await deps.skills.wanted(userId, body.skills ?? []);
      const [row] = await agents.add(caller, [
        {
          id,
          name: body.name,
          plan: caller.plan,
          status: 'provisioning',
          model,
          definition: {
            instruction: body.system ?? '',
            description: body.description ?? '',
            ...purposeOf(tools, servers),
            mcpServers: servers.map(({ name, url }) => ({ name, url })),
          },
          ...(wanted.length > 0 && { skills: { names: wanted.map(({ name }) => name) } }),
          ownConfig: { model: { default: model } },
        },
      ]);
      const beside = { metadata: body.metadata ?? {}, tools: customOf(tools), archived_at: null };
      await store.putBeside(db, userId, id, beside);
      // An agent that does not start yet is there all the same; it can be repaired. What was refused is not.
      await fleet.start(row!).catch(async (error: unknown) => {
        if (error instanceof AppError && error.status >= 500) return;
        if (error instanceof AppError) await roster.system.discard(id);
        throw error;
      });
      return shown(userId, await roster.of(userId).get(id));
    },

    async updateAgent(userId: string, id: string, body: Update) {
      const row = await roster.of(userId).get(id);
      const [newest] = await roster.of(userId).definitions(row, 1);
      if (body.version !== undefined && body.version !== newest!.version)
        throw new AppError(409, `The agent has version ${newest!.version} meanwhile`);
      const agent = await change(row, newest!.definition, body);
      const was = await store.beside(db, userId, id);
      await store.putBeside(db, userId, id, {
        ...was,
        metadata: changed(was.metadata, body.metadata),
        ...(body.tools !== undefined && { tools: customOf(body.tools ?? []) }),
      });
      return shown(userId, agent);
    },
  };
}

/** Servers are attached where they are tried and opened: here they stay as they are. */
function checkServers(has: readonly { name: string; url: string }[], given: Update['mcp_servers']): void {
  if (given === undefined) return;
  const isSame = (given ?? []).every(({ name, url }) => has.some((one) => one.name === name && one.url === url));
  if (!isSame || (given ?? []).length !== has.length)
    throw new AppError(
      400,
      'mcp_servers: attach and take servers away with PUT and DELETE /api/agents/:id/mcp-servers/:name',
    );
}

function createChange({ roster, fleet, gate, skills }: ManagedDeps) {
  /** Those that are new to it or newer, and those that it is to have no more. */
  async function skillChanges({ user_id: userId }: AgentRow, has: AgentDefinition['skills'], given: Update['skills']) {
    if (given === undefined) return [];
    const wanted = await skills.wanted(userId, given ?? []);
    const gone = (has ?? []).filter(({ id }) => !wanted.some((one) => one.id === id));
    const fresh = wanted.filter(({ digest }) => !(has ?? []).some((one) => one.digest === digest));
    return [...gone.map(({ id }) => ({ id, on: false })), ...fresh.map(({ id, digest }) => ({ id, on: true, digest }))];
  }

  return async (given: AgentRow, definition: AgentDefinition, body: Update): Promise<AgentRow> => {
    const servers = urlServers(definition.mcpServers);
    checkServers(servers, body.mcp_servers);
    const model = typeof body.model === 'object' ? body.model.id : body.model;
    const config = model === undefined ? {} : { model: { default: model } };
    const purpose = {
      ...(body.system !== undefined && { instruction: body.system ?? '' }),
      ...(body.description !== undefined && { description: body.description ?? '' }),
      ...(body.tools !== undefined && purposeOf(body.tools ?? [], servers)),
    };
    const changes = await skillChanges(given, definition.skills, body.skills);
    await gate.check(given, { config, purpose });
    for (const skill of changes) await gate.check(given, { skill });
    const named = body.name === undefined ? given : await roster.system.change(given.id, { name: body.name });
    let { agent } = await roster.system.configure(named, config, purpose);
    for (const skill of changes) ({ agent } = await roster.system.changeSkill(agent, skill));
    // The newest, with what others have changed meanwhile.
    if (agent.status === 'running') await fleet.driver.configure(agent, await roster.system.definition(agent));
    return agent;
  };
}

function reading(deps: ManagedDeps, shown: ShownAgent) {
  const { db, clock, roster } = deps;
  const look = createLook(deps);
  return {
    async getAgent(userId: string, id: string, version: number | undefined) {
      const row = await roster.of(userId).get(id);
      if (version === undefined) return shown(userId, row);
      const found = (await roster.of(userId).definitions(row)).find((one) => one.version === version);
      if (!found) throw new AppError(404, 'Version not found');
      return shapeOf(row, found, await store.beside(db, userId, id));
    },

    listAgents: (userId: string, query: ListQuery) =>
      paged(
        query,
        ({ limit, offset }) => roster.of(userId).list({ limit, offset }),
        async (row) => {
          const one = await look(userId, row);
          return one?.archived_at === null || query.include_archived === 'true' ? one : undefined;
        },
      ),

    async archiveAgent(userId: string, id: string) {
      const row = await roster.of(userId).get(id);
      const was = await store.beside(db, userId, id);
      await store.putBeside(db, userId, id, { ...was, archived_at: was.archived_at ?? clock() });
      return shown(userId, row);
    },

    async listAgentVersions(userId: string, id: string, query: Omit<ListQuery, 'include_archived'>) {
      const row = await roster.of(userId).get(id);
      const beside = await store.beside(db, userId, id);
      return paged(
        { ...query, include_archived: 'true' },
        async ({ limit, offset }) => (await roster.of(userId).definitions(row)).slice(offset, offset + limit),
        (one) => shapeOf(row, one, beside),
      );
    },
  };
}

const CONFIG = {
  type: 'cloud' as const,
  networking: { type: 'unrestricted' },
  packages: { type: 'packages', apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] },
};

const environmentShape = (row: store.EnvironmentRow) => ({
  type: 'environment' as const,
  id: row.id,
  name: row.name,
  description: row.description,
  config: CONFIG,
  metadata: row.metadata as store.Metadata,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  archived_at: isoOrNull(row.archived_at),
});

function environmentsOf({ db, clock }: ManagedDeps) {
  const got = (row: store.EnvironmentRow | undefined): store.EnvironmentRow => {
    if (!row) throw new AppError(404, 'Environment not found', {}, { code: 'environment_not_found_error' });
    return row;
  };
  return {
    async createEnvironment(userId: string, { name, description = null, metadata }: NewEnvironment) {
      const at = clock();
      const row = { id: `env_${newId()}`, user_id: userId, name, description, created_at: at, updated_at: at };
      const kept = { ...row, metadata: JSON.stringify(metadata ?? {}) };
      await store.add(db, userId, 'managed_environments', kept).catch((cause: unknown) => {
        throw isOrphan(cause) ? new AppError(404, 'User not found', {}, { cause }) : cause;
      });
      return environmentShape({ ...row, metadata: metadata ?? {}, archived_at: null });
    },
    getEnvironment: async (userId: string, id: string) =>
      environmentShape(got(await store.environment(db, userId, id))),
    async updateEnvironment(userId: string, id: string, { name, description, metadata }: ChangedEnvironment) {
      const was = got(await store.environment(db, userId, id));
      const row = await store.changeEnvironment(db, userId, id, {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        metadata: JSON.stringify(changed(was.metadata as store.Metadata, metadata)),
        updated_at: clock(),
      });
      return environmentShape(got(row));
    },
    listEnvironments: (userId: string, query: ListQuery) =>
      paged(query, (page) => store.environments(db, userId, page), environmentShape),
    async archiveEnvironment(userId: string, id: string) {
      const was = got(await store.environment(db, userId, id));
      const at = clock();
      const row = await store.changeEnvironment(db, userId, id, { archived_at: was.archived_at ?? at, updated_at: at });
      return environmentShape(got(row));
    },
    async deleteEnvironment(userId: string, id: string) {
      if (!(await store.remove(db, userId, 'managed_environments', id)))
        throw new AppError(404, 'Environment not found');
      return { id, type: 'environment_deleted' as const };
    },
  };
}
