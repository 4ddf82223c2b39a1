import { inDollars, money } from '../../../format.ts';
import { chat as texts } from '../../../texts/agents.ts';
import type { Ending } from './transcript.ts';

/** Why a run ended. A cap of the user's that is passed is said as what was spent and what was allowed. */
export function reasonOf({ text, refusal: { scope, used, limit } = {} }: Pick<Ending, 'text' | 'refusal'>): string {
  const isCap = scope === 'user' && typeof used === 'number' && typeof limit === 'number';
  return isCap ? texts.capReached(money(used), money(limit)) : inDollars(text);
}
