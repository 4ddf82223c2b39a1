import {
  type AgentConfig,
  type AgentDefinition,
  defaultAgentConfig,
  type McpToolset,
  newDefinition,
  type RunLimits,
  type Team,
  type TeamAgent,
} from '@troupe/domain';

/** From the team's document to the definitions that its agents run from. */

export interface TeamSetting {
  team: Team;
  teamId: string;
  /** The agent that a member's name stands for. */
  agentId: (name: string) => string;
  config?: AgentConfig;
  limits?: RunLimits;
}

export function teamDefinitions({
  team,
  teamId,
  agentId,
  config,
  limits,
}: TeamSetting): { agentId: string; definition: AgentDefinition }[] {
  const byName = new Map(team.agents.map((one) => [one.name, one]));
  const member = (name: string) => {
    const found = byName.get(name);
    return { agentId: agentId(name), name, role: found?.role ?? '', description: found?.description ?? '' };
  };
  return team.agents.map((one) => ({
    agentId: agentId(one.name),
    definition: newDefinition({
      name: one.name,
      role: one.role,
      description: one.description,
      instruction: one.instruction,
      tools: one.tools,
      memoryShared: one.memoryShared,
      mcpServers: one.mcp.map(mcpServer),
      config: withModel(config ?? defaultAgentConfig(), one),
      ...(team.permissions && { permissions: team.permissions }),
      ...(one.traits && { traits: one.traits }),
      team: {
        id: teamId,
        name: team.name,
        members: one.subAgents.map(member),
        ...(one.handoffs && { handoffs: one.handoffs.map(member) }),
        ...(one.forceHandoff !== undefined && { forceHandoff: member(one.forceHandoff) }),
      },
      ...limitsOf(limits, one),
    }),
  }));
}

const limitsOf = (limits: RunLimits | undefined, { maxTurns }: TeamAgent) => {
  const turns = maxTurns === undefined ? {} : { maxTurns: Math.min(maxTurns, limits?.maxTurns ?? maxTurns) };
  return limits || maxTurns !== undefined ? { limits: { ...limits, ...turns } } : {};
};

const withModel = (config: AgentConfig, { model, fallbacks }: TeamAgent): AgentConfig => ({
  ...config,
  model: { ...config.model, default: model, ...(fallbacks && { fallbacks }) },
});

const mcpServer = ({ name, command, args, env, remote, tools }: McpToolset, index: number) => ({
  name: name ?? `mcp${index + 1}`,
  ...(command !== undefined && { command }),
  ...(args && { args }),
  ...(env && { env }),
  ...(remote && { url: remote.url, headers: remote.headers ?? {} }),
  ...(tools && { tools }),
});
