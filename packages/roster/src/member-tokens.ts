import { hmacHex, sameSecret } from '@troupe/kernel';

/**
 * What an agent in a container shows to the platform when it calls a member of its team. It says who calls, which can be
 * checked without the database, so that each agent is counted by itself: many of them share one address.
 */
const PREFIX = 'mbr_';

const sign = (secret: string, agentId: string): string => hmacHex(secret, JSON.stringify(['team member', agentId]));

export const memberToken = (secret: string, agentId: string): string => `${PREFIX}${agentId}.${sign(secret, agentId)}`;

/** The agent that a token was made for; undefined: it is none of ours. What it may do is for the agent's row to say. */
export function memberOf(secret: string, token: string): string | undefined {
  if (!token.startsWith(PREFIX)) return undefined;
  const [agentId = '', signature = ''] = token.slice(PREFIX.length).split('.');
  return sameSecret(signature, sign(secret, agentId)) ? agentId : undefined;
}
