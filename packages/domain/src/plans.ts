/** The subscription plans, their prices and every limit that depends on them. */

export const PLANS = ['solo', 'collective', 'label', 'network'] as const;
export type Plan = (typeof PLANS)[number];

export const SUBSCRIPTION_STATUSES = ['active', 'inactive', 'past_due', 'cancelled'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

export interface PlanLimits {
  /** GBP a month. */
  price: number;
  /** How many agents may be provisioned. */
  agents: number;
  /** How many agents one team may have; 0: no teams. */
  team: number;
  /** How many agents the plan middleware reports. */
  reportedAgents: number;
  skills: number;
  messagesPerDay: number;
  /** How many scheduled tasks a user has. */
  tasks: number;
  monthlyTokens: number;
}

export const PLAN_LIMITS: Readonly<Record<Plan, PlanLimits>> = {
  solo: {
    price: 29,
    agents: 1,
    team: 0,
    reportedAgents: 1,
    skills: 3,
    messagesPerDay: 100,
    tasks: 20,
    monthlyTokens: 2_000_000,
  },
  collective: {
    price: 69,
    agents: 3,
    team: 3,
    reportedAgents: 10,
    skills: 10,
    messagesPerDay: 500,
    tasks: 50,
    monthlyTokens: 6_000_000,
  },
  label: {
    price: 149,
    agents: 10,
    team: 10,
    reportedAgents: 3,
    skills: 25,
    messagesPerDay: 2000,
    tasks: 200,
    monthlyTokens: 20_000_000,
  },
  network: {
    price: 499,
    agents: Infinity,
    team: 50,
    reportedAgents: 100,
    skills: 100,
    messagesPerDay: 10_000,
    tasks: 1000,
    monthlyTokens: Infinity,
  },
};

/** MCP servers that belong to a user and not to one agent. */
export const MCP_SERVERS: Readonly<Record<Plan, number>> = { solo: 5, collective: 10, label: 25, network: 50 };

/** Megabytes of one file that comes in. */
export const UPLOAD_MB: Readonly<Record<Plan, number>> = { solo: 10, collective: 25, label: 25, network: 25 };

export const isPlan = (value: unknown): value is Plan => PLANS.includes(value as Plan);

export const planRank = (plan: Plan): number => PLANS.indexOf(plan);

export const lowerPlan = (a: Plan, b: Plan): Plan => (planRank(a) <= planRank(b) ? a : b);

export const TIERS = ['starter', 'pro', 'enterprise'] as const;
export type Tier = (typeof TIERS)[number];

export const isTier = (value: unknown): value is Tier => TIERS.includes(value as Tier);

export const TIER_PLAN: Readonly<Record<Tier, Plan>> = { starter: 'solo', pro: 'collective', enterprise: 'network' };
export const TIER_AGENTS: Readonly<Record<Tier, number>> = { starter: 1, pro: 3, enterprise: 100 };

export interface Resources {
  memoryGb: number;
  cpus: number;
}

/** What an agent's container may use, by plan and by the older plan names. */
export const PLAN_RESOURCES: Readonly<Record<string, Resources>> = {
  solo: { memoryGb: 2, cpus: 1 },
  collective: { memoryGb: 4, cpus: 2 },
  label: { memoryGb: 8, cpus: 4 },
  network: { memoryGb: 16, cpus: 4 },
  underground: { memoryGb: 2, cpus: 1 },
  starter: { memoryGb: 2, cpus: 1 },
  pro: { memoryGb: 4, cpus: 2 },
  scale: { memoryGb: 8, cpus: 4 },
  enterprise: { memoryGb: 16, cpus: 4 },
  white_glove: { memoryGb: 32, cpus: 8 },
};

/** Who asks: what the gate needs to know of a user. */
export interface Subscriber {
  plan: string | null;
  subscriptionStatus: SubscriptionStatus;
  isAdmin: boolean;
  isTester?: boolean;
}

export type Refusal =
  | { status: 402; message: string; code: 'PAYMENT_REQUIRED' }
  | { status: 403; message: 'Active subscription required' }
  | { status: 403; message: string; code: 'PLAN_MISMATCH' };

export const FREE_PLAN: Refusal = {
  status: 402,
  message: 'A paid plan is required. Choose a plan at /pricing',
  code: 'PAYMENT_REQUIRED',
};

/** The plan that somebody works under: administrators have the highest. */
export function ownPlan({ plan, isAdmin }: Subscriber): Plan | null {
  if (isAdmin) return 'network';
  return isPlan(plan) ? plan : null;
}

const hasSubscription = (who: Subscriber): boolean =>
  who.isAdmin || who.isTester === true || (who.subscriptionStatus === 'active' && isPlan(who.plan));

export type Entitlement = { plan: Plan } | { refused: Refusal };

/**
 * The one answer to "may this user, with this plan, do this now". `wish` is the plan or tier that the request asks for;
 * without one the plan is the lower of `fallback` and the user's own.
 */
export function entitle(who: Subscriber, wish: string | undefined, fallback: Plan = 'label'): Entitlement {
  if (wish === 'free') return { refused: FREE_PLAN };
  if (!hasSubscription(who)) return { refused: { status: 403, message: 'Active subscription required' } };
  const own = ownPlan(who) ?? 'solo';
  if (wish === undefined) return { plan: lowerPlan(fallback, own) };
  const wanted = isTier(wish) ? TIER_PLAN[wish] : wish;
  if (!isPlan(wanted) || planRank(wanted) > planRank(own))
    return {
      refused: {
        status: 403,
        message: `Plan ${wanted || '""'} is not part of your subscription`,
        code: 'PLAN_MISMATCH',
      },
    };
  return { plan: wanted };
}

export const agentLimit = (plan: Plan, tier?: Tier): number =>
  Math.min(PLAN_LIMITS[plan].agents, tier ? TIER_AGENTS[tier] : Infinity);
