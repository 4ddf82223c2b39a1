import { MOST_COST_DAYS, type Budget, type CostForecast, type CostsReply } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { AppError, type Clock, type ReadTurns, type User } from '@troupe/kernel';
import { createCosts, firstDay, isoDay, type CostSide, type Whose } from '@troupe/usage';
import type { Usage } from '../usage/service.ts';
import { agentNames, teamNames, readDoors, readPolicies } from './store.ts';

export interface CostsDeps {
  db: Database;
  clock: Clock;
  usage: Pick<Usage, 'caps'>;
  sums: ReadTurns;
}

export type CostsService = ReturnType<typeof createCostsService>;

interface Given {
  from?: string | undefined;
  to?: string | undefined;
}

interface Page {
  id?: string | undefined;
  limit: number;
  offset: number;
}

/** Of each kind. */
const MOST = 500;
const BAD_SPAN = `A period begins before it ends and has ${MOST_COST_DAYS} days at most`;
const COLUMNS = ['day', 'id', 'name', 'calls', 'input_tokens', 'output_tokens', 'cost_usd'];
const OWNED = COLUMNS.toSpliced(3, 0, 'owner');
const TELL = { at: 80, does: 'tell' } as const;
const REFUSE = { at: 100, does: 'refuse' } as const;

/** All that bounds what is spent. */
function createBudgets({ db, clock, usage, sums }: CostsDeps) {
  return {
    async budgets(user: User): Promise<{ budgets: Budget[]; more: boolean }> {
      const { caps, tokens, credits } = await usage.caps(user);
      const policies = await sums(user.id, () => readPolicies(db.user(user.id), MOST + 1, clock()));
      const doors = await readDoors(db.user(user.id), MOST + 1, isoDay(clock()));
      const names = await agentNames(
        db.user(user.id),
        caps.flatMap(({ agentId }) => agentId ?? []),
      );
      const teams = await teamNames(
        db.user(user.id),
        caps.flatMap(({ teamId }) => teamId ?? []),
      );
      return {
        budgets: [
          ...caps.map(({ scope, period, resetsAt, ...cap }): Budget => ({
            kind: 'cap',
            scope,
            period,
            resetsAt,
            agentId: cap.agentId,
            agentName: (cap.agentId && names.get(cap.agentId)) ?? null,
            ...(cap.teamId && { teamId: cap.teamId, teamName: teams.get(cap.teamId) ?? null }),
            unit: 'usd',
            limit: cap.limitUsd,
            used: cap.usedUsd,
            reserved: cap.reservedUsd,
            steps: [TELL, REFUSE],
            above: null,
          })),
          tokensOf(tokens, credits),
          ...policies.slice(0, MOST),
          ...doors.slice(0, MOST),
        ],
        more: policies.length > MOST || doors.length > MOST,
      };
    },
  };
}

/** What was spent in a period, what this month will come to, and what bounds it. */
export function createCostsService(deps: CostsDeps) {
  const { db, clock, sums } = deps;
  const costs = createCosts({ db, clock });
  const inTurn = <T>(whose: Whose, work: () => Promise<T>): Promise<T> =>
    sums(whose === 'everybody' ? whose : whose.userId, work);

  /** The month of its last day unless said. */
  function spanOf({ from, to = isoDay(clock()) }: Given): { from: string; to: string } {
    const first = from ?? `${to.slice(0, 7)}-01`;
    if (first > to || first < firstDay(new Date(to), MOST_COST_DAYS)) throw new AppError(400, BAD_SPAN);
    return { from: first, to };
  }

  return {
    async get(whose: Whose, by: CostSide, given: Given & Page): Promise<CostsReply> {
      const span = spanOf(given);
      const { id, limit, offset } = given;
      const question = { by, ...span, id, limit, offset };
      return { by, ...span, ...(await inTurn(whose, () => costs.breakdown(whose, question))) };
    },

    /** With the name that the file should have. */
    async csv(whose: Whose, by: CostSide, given: Given): Promise<{ name: string; body: string }> {
      const span = spanOf(given);
      const days = await inTurn(whose, () => costs.csv(whose, { by, ...span }));
      const head = (whose === 'everybody' ? OWNED : COLUMNS).join();
      return { name: `cost-by-${by}-${span.from}-${span.to}.csv`, body: `${[head, ...days].join('\r\n')}\r\n` };
    },

    forecast: (whose: Whose): Promise<CostForecast> => inTurn(whose, () => costs.forecast(whose)),
    ...createBudgets(deps),
  };
}

function tokensOf(
  { used, limit, enforced, resetsAt }: Awaited<ReturnType<Usage['caps']>>['tokens'],
  credits: number,
): Budget {
  const beyond: Budget['steps'] = credits > 0 ? [{ at: 100, does: 'credits' }] : [REFUSE];
  return {
    kind: 'tokens',
    scope: 'user',
    agentId: null,
    agentName: null,
    period: 'month',
    unit: 'tokens',
    limit,
    used,
    reserved: null,
    resetsAt,
    steps: enforced && limit !== null ? beyond : [{ at: 100, does: 'nothing' }],
    above: null,
  };
}
