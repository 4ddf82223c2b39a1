import type { AgentStats } from '@troupe/contract';
import type { Fleet } from '@troupe/fleet';
import { iso, type Clock } from '@troupe/kernel';
import type { AgentRow, Page, Roster } from '@troupe/roster';
import { visibleTo } from '../../context.ts';

export interface RuntimeDeps {
  roster: Roster;
  fleet: Fleet;
  clock: Clock;
  version: string;
}

export type RuntimeService = ReturnType<typeof createRuntime>;

export function createRuntime({ roster, fleet, clock, version }: RuntimeDeps) {
  async function figures(agent: AgentRow): Promise<AgentStats> {
    const { work, ...driver } = await fleet.driver.stats(agent);
    const isUp = agent.status === 'running' && agent.started_at !== null;
    const uptime = isUp ? Math.max(0, Math.floor((clock().getTime() - agent.started_at!.getTime()) / 1000)) : 0;
    const share = (count: number | undefined) =>
      work === null || count === undefined || work.runs === 0 ? null : Math.round((1000 * count) / work.runs) / 10;
    return {
      agentId: agent.id,
      ...driver,
      uptime,
      uptimeFormatted: formatted(uptime),
      status: agent.status,
      messagesProcessed: work?.runs ?? null,
      messagesPerHour: work?.lastHour ?? null,
      averageResponseTime: work?.averageMs ?? null,
      successRate: share(work ? work.runs - work.failed : undefined),
      errorRate: share(work?.failed),
    };
  }

  return {
    /** The id that a host name stands for; the name itself when no agent has it. */
    idOfHost: async (label: string): Promise<string> => (await roster.system.byHost(label))?.id ?? label,
    /** Whose agent it is; undefined: nobody's. */
    ownerOf: async (agentId: string): Promise<string | undefined> => (await roster.system.find(agentId))?.user_id,
    async instances(userId: string | undefined, page: Page) {
      const rows = await visibleTo(roster, userId).list(page);
      return {
        instances: rows.map((row) => ({
          agentId: row.id,
          name: row.name,
          image: row.image ?? fleet.driver.image,
          status: row.status,
          createdAt: iso(row.created_at),
          version: row.runtime_version ?? version,
          metadata: {
            userId: row.user_id,
            plan: row.plan,
            model: row.model,
            teamId: row.team_id,
            driver: row.driver ?? fleet.driver.name,
          },
        })),
        count: rows.length,
      };
    },
    async stats(id: string, userId: string | undefined) {
      const agent = await visibleTo(roster, userId).get(id);
      return { ...(await figures(agent)), plan: agent.plan, runtimeVersion: agent.runtime_version ?? version };
    },
  };
}

function formatted(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return `${days}d ${hours}h ${minutes}m`;
}
