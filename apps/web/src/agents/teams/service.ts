import {
  CallError,
  customAgent,
  backend as onBackend,
  PLAN_FOR_TEAMS,
  validationMessage,
  type web,
  type TypesOf,
} from '@troupe/contract';
import type { Database } from '@troupe/db';
import {
  findTemplate,
  isPlan,
  PLAN_LIMITS,
  TEAM_TEMPLATES,
  teamFromTemplate,
  type Note,
  type Plan,
  type Subscriber,
  type Team,
} from '@troupe/domain';
import {
  AppError,
  createReadTurns,
  iso,
  randomBase36,
  readTeamOf,
  respond,
  type BackendClient,
  type Clock,
  type Log,
  type User,
  type WorkerPool,
} from '@troupe/kernel';
import type { Roster } from '@troupe/roster';
import { asAppError } from '../../platform/reach.ts';
import { requireEntitlement } from '../agents/service.ts';
import type { KnowledgeService } from '../knowledge/service.ts';
import { makeCollections, type CollectionFiles } from './collections.ts';
import { createUndo, type Undo } from './undo.ts';
import { listTeamAgents, listTeamRows, removeTeam } from './store.ts';

export { createUndo, type Undo } from './undo.ts';

export interface TeamsDeps {
  db: Database;
  backend: BackendClient;
  clock: Clock;
  subscriber: (user: User) => Subscriber;
  disabled: boolean;
  pool: WorkerPool;
  roster: Roster;
  knowledge: KnowledgeService;
  log: Log;
}

export type TeamsService = ReturnType<typeof createTeams>;
type Given = TypesOf<typeof web.teams.provision>['body'];

interface Wanted {
  team: Team;
  yaml: string;
  notCarried: Note[];
  toGive: Note[];
}

const DEFAULT_TEMPLATE = 'dev_team';
const TIMEOUT_MS = 60_000;
const KEYS = TEAM_TEMPLATES.map(({ key }) => key);

const refused = (message: string): AppError => new AppError(400, message, { available_templates: KEYS });

/** What team is wanted, and whether the plan has room for it. */
function createReading({ subscriber, pool }: TeamsDeps) {
  function planOf(user: User, given: unknown): Plan {
    if (!isPlan(given) || PLAN_LIMITS[given].team === 0) throw refused(PLAN_FOR_TEAMS);
    return requireEntitlement(subscriber(user), given);
  }

  function sized({ agents }: { agents: readonly unknown[] }, plan: Plan): void {
    // One agent is no team.
    const most = Math.max(1, PLAN_LIMITS[plan].team);
    if (agents.length > most) throw refused(`A team on the ${plan} plan has at most ${most} agents`);
  }

  async function read(user: User, given: Parameters<typeof readTeamOf>[2]): Promise<Wanted> {
    const { reading, yaml } = await readTeamOf(pool, user.id, given);
    if (!reading.ok) throw refused(reading.error);
    const { team, notCarried, toGive } = reading;
    return { team, yaml, notCarried, toGive };
  }

  /** The team that a request describes: agents of its own first, then a document, then a template. */
  async function wanted(
    user: User,
    { customAgents, yaml_config: yaml, templateKey = DEFAULT_TEMPLATE }: Given,
    plan: Plan,
  ): Promise<Wanted> {
    if (customAgents !== undefined && customAgents.length > 0) {
      sized({ agents: customAgents }, plan);
      return read(user, { agents: customAgents.map(readCustom) });
    }
    if (yaml !== undefined) return read(user, { yaml });
    const template = typeof templateKey === 'string' ? findTemplate(templateKey) : undefined;
    if (!template) throw refused(`Unknown template ${String(templateKey)}`);
    const team = teamFromTemplate(template);
    const { teamYaml } = await import('@troupe/domain/team-yaml');
    return { team, yaml: teamYaml(team), notCarried: [], toGive: [] };
  }

  return { planOf, sized, read, wanted };
}

/** A team that is to be made, with the files of its collections. */
interface Making {
  team: Team;
  yaml: string;
  plan: Plan;
  files?: CollectionFiles | undefined;
}

/** Its agents run, with their collections; what was made is taken back when something fails. */
function createMaking({ db, backend, clock, knowledge, disabled }: TeamsDeps) {
  async function deployed(user: User, { team, yaml, plan }: Making, address: string) {
    const teamId = `team_${clock().getTime()}_${randomBase36(6)}`;
    const agents = team.agents.map(({ name }) => ({ agentId: `${teamId}-${name}`, config: { name, plan } }));
    const body = { teamId, yaml, agents, template: team.name.slice(0, 100) };
    const reply = await backend
      .as(user, address)
      .call(onBackend.teams.deploy, { body, timeout: TIMEOUT_MS })
      .catch((error: unknown) => {
        if (error instanceof CallError && error.status < 500) throw asAppError(error);
        throw new AppError(500, 'Team provisioning failed', {}, { cause: error });
      });
    return { teamId, agents: reply.agents };
  }

  return async function make(user: User, making: Making, undo: Undo, address: string) {
    if (disabled) throw new AppError(503, 'Provisioning is temporarily disabled. Contact support.');
    const { team, files = new Map() } = making;
    const ids = await makeCollections(knowledge, user.id, team.knowledge ?? [], files, undo);
    const made = await deployed(user, making, address);
    undo.add(() => removeTeam(db.user(user.id), made.teamId));
    for (const { agentId } of made.agents)
      undo.add(() => backend.as(user, address).call(onBackend.agents.remove, { params: { id: agentId } }));
    for (const { name, agentId } of made.agents)
      for (const collection of team.agents.find((one) => one.name === name)?.knowledge ?? [])
        await knowledge.give(user, { id: agentId, collectionId: ids.get(collection) ?? '' }, false, address);
    return made;
  };
}

function exporting({ roster }: TeamsDeps) {
  return {
    async exportAgent(userId: string, id: string) {
      const own = roster.of(userId);
      const definition = await own.definition(await own.get(id));
      const { agentYaml } = await import('@troupe/domain/agent-yaml');
      const headers = {
        'content-type': 'application/yaml; charset=utf-8',
        'content-disposition': 'attachment; filename="agent.yaml"',
        'cache-control': 'private, no-store',
        'x-content-type-options': 'nosniff',
      };
      return respond({ headers, body: agentYaml(definition) });
    },
  };
}

export function createTeams(deps: TeamsDeps) {
  const { db, log } = deps;
  const { planOf, sized, read, wanted } = createReading(deps);
  const make = createMaking(deps);
  const reading = createReadTurns();

  return {
    make,
    sized,
    ...exporting(deps),
    async provision(user: User, given: Given, address: string) {
      if (deps.disabled) throw new AppError(503, 'Provisioning is temporarily disabled. Contact support.');
      const plan = planOf(user, given.plan);
      const { team, yaml, notCarried, toGive } = await wanted(user, given, plan);
      sized(team, plan);
      const undo = createUndo(log);
      const { teamId, agents } = await undo.unless(() => make(user, { team, yaml, plan }, undo, address));
      return {
        success: true as const,
        teamId,
        template: team.name,
        agents: agents.map(({ name, ...agent }) => ({ container: `${teamId}/${name}`, ...agent })),
        notCarried,
        toGive,
        yaml_config: yaml,
      };
    },

    /** What a document would become; nothing is made. */
    async preview(user: User, document: string) {
      return shown(await read(user, { yaml: document }));
    },

    async list(user: User, page: { limit: number; offset: number }) {
      const tx = db.user(user.id);
      const agents = await listTeamAgents(tx);
      const rows = await reading(user.id, () => listTeamRows(tx, page));
      const teams = rows.slice(0, page.limit).map((row) => ({
        teamId: row.id,
        name: row.name,
        template: row.template,
        createdAt: iso(row.created_at),
        yaml_config: row.yaml,
        agents: agents
          .filter((agent) => agent.team_id === row.id)
          .map(({ id, name, status }) => ({ agentId: id, name, status })),
      }));
      return { teams, count: teams.length, hasMore: (rows[0]?.found ?? 0) > teams.length };
    },
  };
}

/** A team as a preview shows it. */
export function shown({ team: { name, description, agents }, yaml, notCarried, toGive }: Wanted) {
  const members = agents.map(({ mcp, ...one }) => ({
    name: one.name,
    role: one.role,
    model: one.model,
    tools: one.tools,
    servers: mcp.flatMap((server) => server.name ?? []),
    subAgents: one.subAgents,
  }));
  return { name, description, agents: members, notCarried, toGive, yaml_config: yaml };
}

function readCustom(given: unknown, index: number) {
  const parsed = customAgent.safeParse(given);
  if (parsed.success) return parsed.data;
  throw refused(`customAgents.${index}: ${validationMessage(parsed.error, 'agent')}`);
}
