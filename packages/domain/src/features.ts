import { ownPlan, PLAN_LIMITS, type Subscriber } from './plans.ts';

/** What somebody may use now, by name: nothing without a plan that is paid for. */
export function featuresOf(who: Subscriber): string[] {
  const plan = ownPlan(who);
  const pays = who.isAdmin || who.isTester === true || who.subscriptionStatus === 'active';
  if (plan === null || !pays) return [];
  const { agents, team, monthlyTokens } = PLAN_LIMITS[plan];
  return [
    'agents',
    'ai',
    'underground',
    ...(team > 0 ? ['teams'] : []),
    ...(agents === Infinity ? ['unlimited-agents'] : []),
    ...(monthlyTokens === Infinity ? ['unlimited-tokens'] : []),
  ];
}
