import { hmacHex, sameSecret } from '@troupe/kernel';

/**
 * What an agent in a container shows to the platform when it calls a member of its team. It says who calls, which can be
 * checked without the database, so that each agent is counted by itself: many of them share one address. It ends with the
 * gateway token that it was given beside, whose generation it names; of the first it does not, as those do that
 * containers had before there were generations.
 */
const named = (generation: number): string => (generation === 0 ? '' : `.${generation}`);

const sign = (secret: string, agentId: string, generation: number): string =>
  hmacHex(secret, JSON.stringify(['team member', agentId, ...(generation === 0 ? [] : [generation])]));

export const memberToken = (secret: string, agentId: string, generation = 0): string =>
  `mbr_${agentId}${named(generation)}.${sign(secret, agentId, generation)}`;

/**
 * The agent that a token was made for, and with which of its gateway tokens; undefined: it is none of ours. What it may
 * do, and whether that one has ended, is for the agent's row to say.
 */
export function memberOf(secret: string, token: string): { agentId: string; generation: number } | undefined {
  const [, agentId = '', given, signature = ''] = /^mbr_([^.]*)(?:\.([1-9]\d{0,8}))?\.([^.]*)$/.exec(token) ?? [];
  const generation = Number(given ?? 0);
  return sameSecret(signature, sign(secret, agentId, generation)) ? { agentId, generation } : undefined;
}
