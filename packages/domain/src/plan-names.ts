import { isPlan, planRank, type Plan } from './plans.ts';

/** Older names of plans: the plan whose rules they follow. Their containers have sizes of their own. */
const OLD_NAMES: Readonly<Record<string, Plan>> = {
  underground: 'solo',
  starter: 'solo',
  pro: 'collective',
  scale: 'label',
  enterprise: 'network',
  white_glove: 'network',
};

/** The plan that a request names; undefined: there is none of that name. */
export function readPlanName(name: string): { plan: Plan | 'free'; size?: string } | undefined {
  if (isPlan(name) || name === 'free') return { plan: name };
  const plan = Object.hasOwn(OLD_NAMES, name) ? OLD_NAMES[name] : undefined;
  return plan && { plan, size: name };
}

/** The higher of the plan that something is made under and the one that its owner pays for: its limits hold. */
export const paidPlan = (plan: Plan, owners: unknown): Plan =>
  isPlan(owners) && planRank(owners) > planRank(plan) ? owners : plan;
