import type { SaidPlan, web, TypesOf } from '@troupe/contract';
import { predictCost } from '@troupe/domain';
import type { PredictedCost } from '@troupe/domain';
import { runsIn } from '../../../schedule.ts';

type Planned = TypesOf<typeof web.say.plan>['reply'];
type Model = TypesOf<typeof web.models.list>['reply']['models'][number];

/** What is kept in this browser until it is made: the sentence, and the plan as far as it was changed. */
export interface Draft {
  sentence: string;
  planned?: Planned;
  /** It was sent from another page, and is to be read at once. */
  isAsked?: boolean;
}

export const DRAFT = 'say';
const DAYS = 30;

export function readDraft(value: unknown): Draft {
  const { sentence, planned, isAsked } = (value ?? {}) as Partial<Draft>;
  if (typeof sentence !== 'string') return { sentence: '' };
  return { sentence, ...(planned?.plan && planned.cost && { planned }), ...(isAsked === true && { isAsked }) };
}

/** What the plan costs as it stands now, with another model or at other times. */
export function costNow({ plan, cost }: Planned, models: readonly Model[], now: Date): PredictedCost | undefined {
  const model = models.find(({ id }) => id === plan.model);
  if (!model) return undefined;
  const runs = plan.task ? runsIn(plan.task.cronSchedule, plan.task.timezone, now, DAYS) : 1;
  const past = cost.past.find((one) => one.model === plan.model);
  return runs === undefined ? undefined : predictCost({ model, pages: cost.pages, runs, past });
}

/** A task for what so far worked only when asked. */
export const newTask = (plan: SaidPlan, zone: string): NonNullable<SaidPlan['task']> => ({
  name: plan.name,
  prompt: plan.instruction.slice(0, 10_000) || plan.name,
  cronSchedule: '0 8 * * *',
  timezone: zone,
});
