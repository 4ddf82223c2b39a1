import {
  CallError,
  customAgent,
  deployTeam,
  PLAN_FOR_TEAMS,
  validationMessage,
  type provisionTeam,
  type TypesOf,
} from '@troupe/contract';
import type { Database } from '@troupe/db';
import {
  findTemplate,
  isPlan,
  PLAN_LIMITS,
  readTeamYaml,
  TEAM_TEMPLATES,
  teamFromCustom,
  teamFromTemplate,
  teamYaml,
  type Plan,
  type Subscriber,
  type Team,
  type TeamReading,
} from '@troupe/domain';
import { AppError, iso, randomBase36, type BackendClient, type Clock, type User } from '@troupe/kernel';
import { asAppError } from '../../reach.ts';
import { requireEntitlement } from '../agents/service.ts';
import { listTeamAgents, listTeamRows } from './store.ts';

export interface TeamsDeps {
  db: Database;
  backend: BackendClient;
  clock: Clock;
  subscriber: (user: User) => Subscriber;
  disabled: boolean;
}

export type TeamsService = ReturnType<typeof createTeams>;
type Given = TypesOf<typeof provisionTeam>['body'];

const DEFAULT_TEMPLATE = 'dev_team';
const TIMEOUT_MS = 60_000;
const KEYS = TEAM_TEMPLATES.map(({ key }) => key);

const refused = (message: string): AppError => new AppError(400, message, { available_templates: KEYS });

export function createTeams({ db, backend, clock, subscriber, disabled }: TeamsDeps) {
  function planOf(user: User, given: unknown): Plan {
    if (!isPlan(given) || PLAN_LIMITS[given].team === 0) throw refused(PLAN_FOR_TEAMS);
    return requireEntitlement(subscriber(user), given);
  }

  function sized(team: Team, plan: Plan): Team {
    const most = PLAN_LIMITS[plan].team;
    if (team.agents.length > most) throw refused(`A team on the ${plan} plan has at most ${most} agents`);
    return team;
  }

  return {
    async provision(user: User, given: Given, address: string) {
      if (disabled) throw new AppError(503, 'Provisioning is temporarily disabled. Contact support.');
      const plan = planOf(user, given.plan);
      const team = sized(wanted(given, plan), plan);
      const teamId = `team_${clock().getTime()}_${randomBase36(6)}`;
      const yaml = teamYaml(team);
      const reply = await backend
        .as(user, address)
        .call(deployTeam, { body: { teamId, yaml, plan, template: team.name }, timeout: TIMEOUT_MS })
        .catch((error: unknown) => {
          if (error instanceof CallError && error.status < 500) throw asAppError(error);
          throw new AppError(500, 'Team provisioning failed', {}, { cause: error });
        });
      return {
        success: true as const,
        teamId,
        template: team.name,
        agents: reply.agents.map(({ name, ...agent }) => ({ container: `${teamId}/${name}`, ...agent })),
        yaml_config: yaml,
      };
    },

    async list(user: User) {
      const tx = db.user(user.id);
      const agents = await listTeamAgents(tx);
      const teams = (await listTeamRows(tx)).map((row) => ({
        teamId: row.id,
        name: row.name,
        template: row.template,
        createdAt: iso(row.created_at),
        yaml_config: row.yaml,
        agents: agents
          .filter((agent) => agent.team_id === row.id)
          .map(({ id, name, status }) => ({ agentId: id, name, status })),
      }));
      return { teams, count: teams.length };
    },
  };
}

/** The team that a request describes: agents of its own first, then a document, then a template. */
function wanted({ customAgents, yaml_config: yaml, templateKey = DEFAULT_TEMPLATE }: Given, plan: Plan): Team {
  if (customAgents !== undefined && customAgents.length > 0) {
    const most = PLAN_LIMITS[plan].team;
    if (customAgents.length > most) throw refused(`A team on the ${plan} plan has at most ${most} agents`);
    return read(teamFromCustom(customAgents.map(readCustom)));
  }
  if (yaml !== undefined) return read(readTeamYaml(yaml));
  const template = typeof templateKey === 'string' ? findTemplate(templateKey) : undefined;
  if (!template) throw refused(`Unknown template ${String(templateKey)}`);
  return teamFromTemplate(template);
}

function readCustom(given: unknown, index: number) {
  const parsed = customAgent.safeParse(given);
  if (parsed.success) return parsed.data;
  throw refused(`customAgents.${index}: ${validationMessage(parsed.error, 'agent')}`);
}

function read(reading: TeamReading): Team {
  if (reading.ok) return reading.team;
  throw refused(reading.error);
}
