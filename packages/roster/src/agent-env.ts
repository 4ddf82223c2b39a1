import type { AgentRow } from './agent.ts';
import type { AllAgents } from './all.ts';
import { memberToken } from './member-tokens.ts';

/** What an agent that runs as a program of its own is told of itself. Its own tokens are the only secrets in it. */
export async function agentEnv(
  roster: Pick<AllAgents, 'channelTokens' | 'token' | 'definition'>,
  sessionSecret: string,
  agent: AgentRow,
): Promise<Record<string, string>> {
  const opens = await roster.channelTokens(agent);
  return {
    AGENT_ID: agent.id,
    GATEWAY_TOKEN: await roster.token(agent),
    MEMBER_TOKEN: memberToken(sessionSecret, agent.id, agent.token_generation),
    ...(agent.team_id && { TEAM_ID: agent.team_id }),
    AGENT_DEFINITION: JSON.stringify(await roster.definition(agent)),
    // The platform wakes it.
    HEARTBEAT: 'off',
    ...(Object.keys(opens).length > 0 && { CHANNELS: JSON.stringify(opens) }),
    ...channelUsers(agent),
  };
}

/** What it shows to the platform, and where that is. */
export const platformEnv = (url: string, env: Record<string, string>) => ({
  PLATFORM_URL: url,
  PLATFORM_KEY: `sk_${env['GATEWAY_TOKEN']}`,
});

/** Who may talk to the agent over its channels; left out: everybody. */
function channelUsers({ own_config }: AgentRow): { CHANNEL_USERS?: string } {
  const { channelUserId, ownerIds } = own_config as { channelUserId?: unknown; ownerIds?: unknown };
  const users = [channelUserId, ...(Array.isArray(ownerIds) ? (ownerIds as unknown[]) : [])];
  const named = users.filter((user) => typeof user === 'string' && user !== '');
  return named.length > 0 ? { CHANNEL_USERS: named.join(',') } : {};
}
