import type { web, TypesOf } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { creditsOf, isPlan, PLAN_LIMITS } from '@troupe/domain';
import { AppError, type Clock, type ReadTurns, type User } from '@troupe/kernel';
import { createCaps, createQueries, firstDay, type CapChange, type UsageQueries } from '@troupe/usage';
import { agentsOf, creditMicros, hasTeam } from './store.ts';

type Cost = TypesOf<typeof web.usage.getCosts>['reply'];
type CapsReply = TypesOf<typeof web.usage.getCaps>['reply'];

export interface UsageDeps {
  db: Database;
  clock: Clock;
  /** TOKEN_QUOTAS=on. */
  tokenQuotas: boolean;
  sums: ReadTurns;
}

const USD = 1_000_000;
const DIRECT = 'Direct calls';

/** The same questions, asked in turns of the users. */
function inTurns(queries: UsageQueries, turns: ReadTurns): UsageQueries {
  return {
    summary: (userId, ...asked) => turns(userId, () => queries.summary(userId, ...asked)),
    byAgent: (userId, ...asked) => turns(userId, () => queries.byAgent(userId, ...asked)),
    byModel: (userId, ...asked) => turns(userId, () => queries.byModel(userId, ...asked)),
    daily: (userId, ...asked) => turns(userId, () => queries.daily(userId, ...asked)),
    tools: (userId, ...asked) => turns(userId, () => queries.tools(userId, ...asked)),
    cost: (userId, ...asked) => turns(userId, () => queries.cost(userId, ...asked)),
  };
}

/** What the calls of a period cost. */
function createCost({ db, clock }: UsageDeps, queries: UsageQueries) {
  function since(period: Cost['period']): string {
    const now = clock();
    return firstDay(now, period === 'mtd' ? now.getUTCDate() : period === '30d' ? 30 : 7);
  }

  async function cost(user: User, period: Cost['period']): Promise<Cost> {
    const [{ byAgent, byDay }, agents] = await Promise.all([
      queries.cost(user.id, since(period)),
      agentsOf(db.user(user.id)),
    ]);
    const names = new Map(agents.map(({ id, name }) => [id, name]));
    const total = sumOf(byAgent);
    const perAgent = [...Map.groupBy(byAgent, (row) => row.agent_id)].map(([agentId, rows]) => ({
      agentId,
      name: names.get(agentId) ?? (agentId || DIRECT),
      ...sumOf(rows),
      // Rows come with the dearest first.
      model: rows[0]!.model,
    }));
    const perModel = [...Map.groupBy(byAgent, (row) => row.model)].map(([model, rows]) => ({ model, ...sumOf(rows) }));
    return {
      period,
      summary: {
        totalCost: total.cost,
        totalTokens: total.tokens,
        totalCalls: total.calls,
        avgCostPerCall: total.avgCostPerCall,
      },
      agents: perAgent.toSorted((a, b) => b.cost - a.cost || a.name.localeCompare(b.name)),
      daily: byDay.map((row) => ({
        date: label(row.date),
        day: row.date,
        cost: row.cost_usd,
        tokens: row.total_tokens,
      })),
      modelBreakdown: perModel
        .map((row) => ({ model: row.model, percent: percent(row.cost, total.cost), cost: row.cost }))
        .toSorted((a, b) => b.cost - a.cost),
      isMockData: false,
      plan: user.plan,
      planMonthlyCost: isPlan(user.plan) ? PLAN_LIMITS[user.plan].price : 0,
      agentCount: agents.length,
      activeAgents: agents.filter(({ status }) => status === 'active' || status === 'running').length,
    };
  }

  return cost;
}

export type Usage = ReturnType<typeof createUsage>;

export function createUsage(deps: UsageDeps) {
  const { db, clock, tokenQuotas, sums } = deps;
  const queries = inTurns(createQueries({ db, clock }), sums);
  const spendCaps = createCaps({ db, clock, inTurn: sums });

  const cost = createCost(deps, queries);

  async function caps(user: User): Promise<CapsReply> {
    const list = await spendCaps.list(user.id);
    const used = await spendCaps.tokensThisMonth(user.id);
    const credit = await creditMicros(db.user(user.id), user.id);
    const limit = isPlan(user.plan) && !user.isAdmin ? PLAN_LIMITS[user.plan].monthlyTokens : Infinity;
    return {
      caps: list,
      tokens: {
        used,
        limit: Number.isFinite(limit) ? limit : null,
        enforced: tokenQuotas,
        resetsAt: nextMonth(clock()),
      },
      credits: creditsOf(credit),
    };
  }

  return {
    queries,
    cost,
    caps,
    async setCap(user: User, change: CapChange): Promise<CapsReply> {
      if (change.teamId !== undefined && !(await hasTeam(db.user(user.id), change.teamId)))
        throw new AppError(404, 'Team not found');
      await spendCaps.set(user.id, change);
      return caps(user);
    },
  };
}

interface Sum {
  cost: number;
  tokens: number;
  calls: number;
  avgCostPerCall: number;
}

function sumOf(rows: { costMicros: number; tokens: number; calls: number }[]): Sum {
  const micros = rows.reduce((sum, row) => sum + row.costMicros, 0);
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
  const calls = rows.reduce((sum, row) => sum + row.calls, 0);
  return { cost: micros / USD, tokens, calls, avgCostPerCall: calls === 0 ? 0 : micros / calls / USD };
}

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 1000) / 10);

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const label = (day: string): string => `${MONTHS[Number(day.slice(5, 7)) - 1]} ${Number(day.slice(8))}`;

const nextMonth = (now: Date): string =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
