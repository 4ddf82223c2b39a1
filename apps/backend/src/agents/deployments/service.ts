import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment } from '@troupe/contract';
import type { Fleet, Placement } from '@troupe/fleet';
import { AppError, type Log } from '@troupe/kernel';
import { channelTokens, enabledChannels, readTools, type AgentRow, type NewAgent, type Roster } from '@troupe/roster';
import type { KillSwitch } from '../kill-switch.ts';
import type { AgentService, Caller } from '../agents/service.ts';

export interface DeploymentDeps {
  log: Log;
  /** Whoever asked is answered after this long, also when the agent still starts. */
  patienceMs?: number;
  agents: AgentService;
  roster: Roster;
  fleet: Fleet;
  version: string;
  defaultModel: string;
  refuseWhenDisabled: KillSwitch;
}

export type DeploymentService = ReturnType<typeof createDeployments>;

type Config = Deployment['config'];

/** Fields of a deployment that are no part of the configuration which the agent runs with. */
const NOT_CONFIG = new Set([
  'name',
  'plan',
  'model',
  'aiProvider',
  'apiKey',
  'channelTokenA',
  'channelTokenB',
  'channelTokenC',
  'instruction',
  'tools',
]);

/** Web waits 15 s; an engine that has to fetch an image, or starts many at once, takes longer. */
const PATIENCE_MS = 12_000;

function createNewAgent({ agents, defaultModel }: DeploymentDeps) {
  function newAgent(agentId: string, config: Config): Omit<NewAgent, 'userId'> {
    const { plan, size } = agents.planOf(config.plan ?? 'solo');
    const channels = channelTokens(config);
    const own = Object.fromEntries(Object.entries(config).filter(([key]) => !NOT_CONFIG.has(key)));
    return {
      id: agentId,
      name: config.name ?? agentId,
      plan,
      status: 'provisioning',
      model: config.model ?? defaultModel,
      ...(size && { size }),
      ...(config.aiProvider && { aiProvider: config.aiProvider }),
      ...(config.apiKey && { apiKey: config.apiKey }),
      definition: {
        ...(config.instruction !== undefined && { instruction: config.instruction }),
        ...(config.tools && { tools: readTools(config.tools) }),
      },
      ownConfig: {
        ...own,
        ...(config.model && { model: { default: config.model } }),
        ...(Object.keys(channels).length > 0 && { channels: enabledChannels(channels) }),
      },
      channels,
    };
  }

  return newAgent;
}

export function createDeployments(deps: DeploymentDeps) {
  const { agents, roster, fleet, version, refuseWhenDisabled, log, patienceMs = PATIENCE_MS } = deps;
  const newAgent = createNewAgent(deps);

  const answer = (agent: AgentRow, placement: Partial<Placement>) => ({
    id: `deploy-${agent.id}`,
    agentId: agent.id,
    ...agents.place(agent.id),
    status: agent.status,
    runtimeVersion: agent.runtime_version ?? version,
    ...(placement.container && { container: placement.container }),
  });

  return {
    /** `created` is false when it was running already. */
    async deploy(caller: Caller, { agentId, config }: Deployment) {
      const { userId } = caller;
      refuseWhenDisabled();
      if (config.plan !== undefined) agents.planOf(config.plan);
      let known = await roster.system.find(agentId);
      if (known && userId !== undefined && known.user_id !== userId) throw new AppError(404, 'Agent not found');
      const isNew = known === undefined;
      known ??= (await agents.add(caller, [newAgent(agentId, config)]))[0]!;
      const starting = fleet.start(known).catch(async (error: unknown) => {
        // What was refused is not there; only what could not be started is left to be repaired.
        if (isNew && error instanceof AppError && error.status < 500) await roster.system.discard(agentId);
        throw error;
      });
      const started = await within(starting, patienceMs);
      if (started) return { created: started.was !== 'running', body: answer(started.agent, started.placement) };
      // It goes on: the row, and a notice if it fails, tell how it ended.
      starting.catch((err: unknown) =>
        log.warn({ err, agentId }, 'an agent did not start after its maker was answered'),
      );
      return { created: known.status !== 'running', body: answer(await roster.system.get(agentId), {}) };
    },
  };
}

/** What it gives, or undefined when that takes longer. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const end = new AbortController();
  const late = delay(ms, undefined, { signal: end.signal }).catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    end.abort();
  }
}
