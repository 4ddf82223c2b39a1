import { teamDefinitions } from '@troupe/agent';
import type { backend, TypesOf } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { isPlan, type Team } from '@troupe/domain';
import type { Fleet } from '@troupe/fleet';
import { AppError, readTeamOf, type Clock, type WorkerPool } from '@troupe/kernel';
import type { AgentRow, NewAgent } from '@troupe/roster';
import type { AgentService, Caller } from '../agents/service.ts';
import type { KillSwitch } from '../kill-switch.ts';
import * as store from './store.ts';

export interface TeamDeps {
  db: Database;
  agents: AgentService;
  refuseWhenDisabled: KillSwitch;
  fleet: Fleet;
  clock: Clock;
  pool: WorkerPool;
}

export type TeamService = ReturnType<typeof createTeams>;

type Given = TypesOf<typeof backend.teams.deploy>['body'];

/** The rows of the team's agents, made from its document and from nothing else. */
function rowsOf(agents: AgentService, { teamId, agents: named = [] }: Given, team: Team, owned: unknown) {
  const given = (name: string) => named.find(({ config }) => config.name === name);
  const skillsOf = (name: string) => team.agents.find((one) => one.name === name)?.skills ?? [];
  const agentId = (name: string): string => given(name)?.agentId ?? `${teamId}-${name}`;
  return teamDefinitions({ team, teamId, agentId }).map(
    ({ agentId: id, definition: { name, config, ...definition } }): Omit<NewAgent, 'userId'> => {
      const { model } = config;
      const { plan, size } = agents.planOf(given(name)?.config.plan ?? (isPlan(owned) ? owned : 'collective'));
      return {
        id,
        name,
        plan,
        teamId,
        status: 'provisioning',
        model: model.default,
        ...(size && { size }),
        definition,
        ...(skillsOf(name).length > 0 && { skills: { names: skillsOf(name) } }),
        ownConfig: {
          model: { default: model.default, ...(model.fallbacks.length > 0 && { fallbacks: model.fallbacks }) },
        },
      };
    },
  );
}

export function createTeams({ db, agents, refuseWhenDisabled, fleet, clock, pool }: TeamDeps) {
  async function read(owner: string, yaml: string): Promise<Team> {
    const { reading } = await readTeamOf(pool, owner, { yaml });
    if (!reading.ok) throw new AppError(400, reading.error);
    return reading.team;
  }

  async function start(agent: AgentRow) {
    const { url } = agents.place(agent.id);
    const about = { agentId: agent.id, name: agent.name, url };
    try {
      await fleet.start(agent);
      return { ...about, status: 'running' as const };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { ...about, status: 'failed' as const, error: error.message };
    }
  }

  return {
    /** Each agent ends running or failed on its own. The same team again starts only what does not run. */
    async deploy(caller: Caller, given: Given) {
      const { userId } = caller;
      refuseWhenDisabled();
      const team = await read(userId ?? 'platform', given.yaml);
      const order = team.agents.map(({ name }) => name);
      let rows = await store.agentsOf(db.system, given.teamId);
      const owners = [...rows.map((row) => row.user_id), ...(await store.ownersOf(db.system, given.teamId))];
      if (owners.some((owner) => userId !== undefined && owner !== userId))
        throw new AppError(409, 'A team with this id exists already');
      if (rows.length === 0) {
        rows = await agents.add(caller, rowsOf(agents, given, team, caller.plan));
        const { teamId: id, yaml, template = null } = given;
        const { user_id } = rows[0]!;
        await store.addTeam(db.system, { id, user_id, name: team.name, template, yaml, created_at: clock() });
      }
      rows.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
      return { teamId: given.teamId, agents: await Promise.all(rows.map(start)) };
    },
  };
}
