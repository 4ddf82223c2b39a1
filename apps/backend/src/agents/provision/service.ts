import type { ProvisionBody } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { FREE_PLAN, isPlan, type Catalogue } from '@troupe/domain';
import type { Fleet } from '@troupe/fleet';
import { AppError, iso, newId, type Settings } from '@troupe/kernel';
import { channelTokens, provisioned, type Roster } from '@troupe/roster';
import { visibleTo } from '../../context.ts';
import type { AgentService, Caller } from '../agents/service.ts';
import type { KillSwitch } from '../kill-switch.ts';
import type { LiveStream } from './livestream.ts';
import * as store from './store.ts';

export interface ProvisionDeps {
  db: Database;
  roster: Roster;
  agents: AgentService;
  refuseWhenDisabled: KillSwitch;
  fleet: Fleet;
  settings: Settings;
  catalogue: Catalogue;
  liveStream: () => Promise<LiveStream>;
}

function createPlanOf({ db }: ProvisionDeps) {
  async function planOf(userId: string | undefined, wish: string | undefined): Promise<string> {
    if (wish !== undefined) return wish;
    return (userId === undefined ? undefined : await store.planOf(db.system, userId)) ?? 'solo';
  }

  return planOf;
}

export type ProvisionService = ReturnType<typeof createProvision>;

export function createProvision(deps: ProvisionDeps) {
  const { roster, agents, refuseWhenDisabled, fleet, settings, catalogue, liveStream } = deps;
  const planOf = createPlanOf(deps);

  const providerConfig = (provider: string) => ({
    model: catalogue.providers[provider]?.primary ?? catalogue.teamDefault,
    baseUrl: String(settings[`${provider.toUpperCase()}_BASE_URL` as keyof Settings] ?? ''),
    requiresKey: provider !== 'ollama',
  });

  return {
    async provision(caller: Caller, body: ProvisionBody & { agentId?: string }) {
      const { userId } = caller;
      refuseWhenDisabled();
      const { plan, size } = agents.planOf(await planOf(userId, body.plan));
      if (!isPlan(plan)) throw new AppError(FREE_PLAN.status, FREE_PLAN.message, { code: 'PAYMENT_REQUIRED' });
      const names = Object.keys(channelTokens(body));
      if (names.length === 0 && !body.autoProvision && body.agentType !== 'business')
        throw new AppError(400, 'At least one channel token required');
      const provider = providerConfig(body.aiProvider);
      const id = body.agentId ?? newId();
      const wanted = { ...provisioned(body, { id, plan, model: provider.model }), ...(size && { size }) };
      const known = await visibleTo(roster, userId).find(id);
      const [row] = known ? [known] : await agents.add(caller, [wanted]);
      const { real, ...stream } = await liveStream();
      // An agent that does not start yet is provisioned all the same; its status says so, and it can be repaired.
      const started = await fleet.start(row!).catch(async (error: unknown) => {
        if (error instanceof AppError && error.status >= 500) return undefined;
        if (!known && error instanceof AppError) await roster.system.discard(id);
        throw error;
      });
      const agent = started?.agent ?? (await agents.get(id, userId));
      return {
        success: true as const,
        userId: agent.user_id,
        agentId: id,
        id,
        aiProvider: body.aiProvider,
        aiProviderConfig: provider,
        plan,
        ...stream,
        ...agents.place(id),
        status: agent.status,
        createdAt: iso(agent.created_at),
        metadata: { channels: names, streaming: real },
        ...(started?.placement.container && { container: started.placement.container }),
      };
    },
  };
}
