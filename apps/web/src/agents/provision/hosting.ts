import type { ProvisionBody } from '@troupe/contract';
import { agentLimit, isPlan, paidPlan } from '@troupe/domain';
import { AppError, type User } from '@troupe/kernel';
import { LimitReached, provisioned, type AgentRow, type HostingPlatform, type Roster } from '@troupe/roster';

/** The last resort of provisioning: the hosting platform takes the agent, and the row says so. */
export interface Hosting {
  provision: (
    user: User,
    body: ProvisionBody & { agentId: string },
  ) => Promise<{ agentId: string; serviceId: string; url: string }>;
}

export interface HostingDeps {
  platform: HostingPlatform | undefined;
  roster: Roster;
  agentsDomain: string;
  premium: string;
}

export function createHostedProvision({ platform, roster, agentsDomain, premium }: HostingDeps): Hosting | undefined {
  if (!platform) return undefined;

  async function add(user: User, body: ProvisionBody & { agentId: string }): Promise<AgentRow> {
    const plan = isPlan(body.plan) ? body.plan : 'solo';
    const limit = user.isAdmin ? Infinity : agentLimit(paidPlan(plan, user.plan));
    const wanted = provisioned(body, { id: body.agentId, plan, model: premium });
    const agent = { ...wanted, userId: user.id, driver: 'hosting' as const };
    try {
      const [row] = await roster.of(user.id).add([agent], limit);
      return row!;
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      const extra = { code: 'AGENT_LIMIT_REACHED', current: error.current, limit };
      throw new AppError(402, `Agent limit reached for ${plan} plan`, extra);
    }
  }

  return {
    async provision(user, body) {
      const { agentId } = body;
      const row = await add(user, body);
      try {
        const { id: serviceId } = await platform.start(row);
        return { agentId, serviceId, url: `https://${agentId}.${agentsDomain}` };
      } catch (error) {
        await roster.of(user.id).discard(agentId);
        throw error;
      }
    },
  };
}
