import { inDollars, money } from '../../../format.ts';
import { chat as texts } from '../../../texts/agents.ts';

/** Why a run ended. A cap that is passed is said as what was spent and what was allowed. */
export function reasonOf(text: string): string {
  const [, used, limit] =
    /^Spend cap reached: (\d{1,15}(?:\.\d{1,9})?) of (\d{1,15}(?:\.\d{1,9})?) USD used/.exec(text) ?? [];
  return used === undefined || limit === undefined ? inDollars(text) : texts.capReached(money(used), money(limit));
}
