import type { web, TypesOf } from '@troupe/contract';
import { cost as texts } from '../../../texts/money.ts';

export type Cap = TypesOf<typeof web.usage.getCaps>['reply']['caps'][number];
export type CapBody = TypesOf<typeof web.usage.putCap>['sent']['body'];
type Which = Pick<Cap, 'scope' | 'agentId' | 'period'> & { teamId?: string | null; teamName?: string | null };

/** Whom a cap holds, and for how long. */
export function capName(
  { scope, agentId, teamId, teamName, period }: Which,
  agents: readonly { id: string; name: string }[],
): string {
  const ofAgent = agentId ? (agents.find(({ id }) => id === agentId)?.name ?? agentId) : texts.everyAgent;
  const whose =
    scope === 'agent' ? ofAgent : scope === 'team' ? texts.teamPot(teamName ?? teamId ?? '') : texts.scopes[scope];
  return `${whose}, ${texts.capPeriods[period]}`;
}

/** Null: it is removed. */
export const capBody = ({ scope, agentId, teamId, period }: Which, limitUsd: number | null): CapBody => ({
  scope,
  period,
  limitUsd,
  ...(agentId && { agentId }),
  ...(teamId && { teamId }),
});
