import { MOST_COMPARED } from '@troupe/contract';
import type { web, TypesOf } from '@troupe/contract';

type Reply = TypesOf<typeof web.compare.start>['reply'];

export interface Side {
  agentId: string;
  model: string | null;
}

/** What is kept in this browser: who is asked what, and the comparison that is shown. */
export interface Comparison {
  message: string;
  sides: Side[];
  shown?: Reply;
  /** What was asked last, and whether an answer came or not: the same is asked under the same id. */
  asked?: { id: string; what: string };
}

export const COMPARISON = 'compare';

const isSide = (value: unknown): value is Side =>
  typeof value === 'object' && value !== null && typeof (value as Side).agentId === 'string';

export function readComparison(value: unknown): Comparison {
  const { message, sides, shown, asked } = (value ?? {}) as Partial<Comparison>;
  return {
    message: typeof message === 'string' ? message : '',
    sides: Array.isArray(sides) ? sides.filter(isSide).slice(0, MOST_COMPARED) : [],
    ...(Array.isArray(shown?.sides) && shown.sides.every(isSide) && { shown }),
    ...(typeof asked?.id === 'string' && typeof asked.what === 'string' && { asked }),
  };
}

/** The platform begins a comparison once under one id: a try whose answer was lost is the same one. */
export function askedAs(
  before: Comparison['asked'],
  message: string,
  sides: readonly Side[],
  makeId: () => string,
): NonNullable<Comparison['asked']> {
  const what = JSON.stringify([message, sides]);
  return before?.what === what ? before : { id: makeId(), what };
}

/** Two to begin with: the first agent with two models, as far as there are two. */
export function sidesOf(
  chosen: readonly Side[],
  agents: readonly { id: string }[],
  models: readonly { id: string }[],
): Side[] {
  const known = chosen.filter(({ agentId }) => agents.some(({ id }) => id === agentId));
  const first = agents[0]?.id;
  if (first === undefined) return [];
  const sides = [...known];
  for (let n = sides.length; n < 2; n += 1) sides.push({ agentId: first, model: models[n]?.id ?? null });
  return sides;
}

export interface Measure {
  costMicros: number;
  ms: number;
}

/** Which of them is the cheapest and which the fastest, once all are done; -1: there is none, or more than one. */
export function bestOf(measures: readonly (Measure | undefined)[]): { cheapest: number; fastest: number } {
  const least = (of: (measure: Measure) => number): number => {
    if (measures.length < 2 || measures.some((one) => one === undefined)) return -1;
    const values = measures.map((one) => of(one!));
    const lowest = Math.min(...values);
    return values.filter((value) => value === lowest).length === 1 ? values.indexOf(lowest) : -1;
  };
  return { cheapest: least(({ costMicros }) => costMicros), fastest: least(({ ms }) => ms) };
}
