import type { RunLimits } from '@troupe/domain';
import type { Spent } from '../session/events.ts';
import type { FinishedCall } from '../session/session.ts';

/** The tighter of two bounds in each respect. */
export const narrow = (own: RunLimits, given: RunLimits | undefined): RunLimits =>
  given === undefined
    ? own
    : {
        maxTurns: Math.min(own.maxTurns, given.maxTurns),
        maxTokens: Math.min(own.maxTokens, given.maxTokens),
        maxCostMicros: Math.min(own.maxCostMicros, given.maxCostMicros),
        maxSeconds: Math.min(own.maxSeconds, given.maxSeconds),
      };

export const remaining = (limits: RunLimits, spent: Spent): RunLimits => ({
  maxTurns: Math.max(0, limits.maxTurns - spent.turns),
  maxTokens: Math.max(0, limits.maxTokens - spent.tokens),
  maxCostMicros: Math.max(0, limits.maxCostMicros - spent.costMicros),
  maxSeconds: Math.max(0, limits.maxSeconds - Math.ceil(spent.ms / 1000)),
});

export const timeIsUp = ({ maxSeconds }: RunLimits): string => `The limit of ${maxSeconds} seconds is reached.`;

/** Which bound a run has reached, as a sentence. */
export function reached(limits: RunLimits, spent: Spent): string | undefined {
  if (spent.turns >= limits.maxTurns) return `The limit of ${limits.maxTurns} turns is reached.`;
  if (spent.tokens >= limits.maxTokens) return `The limit of ${limits.maxTokens} tokens is reached.`;
  // A budget of nothing still allows a model that costs nothing.
  if (
    spent.costMicros > limits.maxCostMicros ||
    (limits.maxCostMicros > 0 && spent.costMicros === limits.maxCostMicros)
  ) {
    return `The limit of ${(limits.maxCostMicros / 1e6).toFixed(2)} USD is reached.`;
  }
  if (spent.ms >= limits.maxSeconds * 1000) return timeIsUp(limits);
  return undefined;
}

const LONGEST_CYCLE = 3;
const NUDGE_AFTER = 3;
const STOP_AFTER = 5;

/** How often the newest calls repeat one another, with the same results, in a cycle of up to three calls. */
function repetitions(calls: readonly FinishedCall[]): number {
  const marks = calls.map(({ tool, args, content }) => `${tool}\n${args}\n${content}`);
  let most = 1;
  for (let length = 1; length <= LONGEST_CYCLE; length++) {
    const cycle = marks.slice(-length);
    let times = 1;
    while (times * length < marks.length && cycle.every((mark, at) => marks.at(-(times + 1) * length + at) === mark)) {
      times++;
    }
    if (cycle.length === length) most = Math.max(most, times);
  }
  return most;
}

export function loopState(calls: readonly FinishedCall[]): 'fine' | 'nudge' | 'stop' {
  const times = repetitions(calls);
  if (times >= STOP_AFTER) return 'stop';
  return times >= NUDGE_AFTER ? 'nudge' : 'fine';
}

export const NUDGE =
  'Note: this call was made several times with the same result. Do something else, or answer with what you have.';
