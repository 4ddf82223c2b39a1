import type { SessionStep } from '@troupe/contract';

/**
 * What a visitor sees of a conversation: words, and how an answer ends. Tools, their arguments and results, models, costs
 * and reasons are the owner's to see.
 */

export const BY_PERSON = 'person';
/** A note that says who answers from here on. */
export const TO_PERSON = 'to person';
export const TO_AGENT = 'to agent';

const SORRY = 'Sorry, I cannot answer now. Please try again later.';
export const CLOSED = 'I have answered all that I may for today. Please come back tomorrow.';
const WAITS = 'Somebody has to agree to this first. I will go on as soon as they have.';

export interface Shown {
  event: 'message' | 'end' | 'waits' | 'state';
  data: Record<string, unknown>;
}

type Step = Pick<SessionStep, 'type' | 'at'> & Record<string, unknown>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const message = (step: Step, role: 'visitor' | 'agent' | 'person' | 'notice'): Shown[] => {
  const words = text(step['content']);
  return words.trim() === '' ? [] : [{ event: 'message', data: { role, text: words, at: step.at } }];
};

function noted(step: Step): Shown[] {
  const { by } = step;
  if (step['role'] === 'user') return message(step, 'visitor');
  if (by === TO_PERSON || by === TO_AGENT)
    return [...message(step, 'notice'), { event: 'state', data: { state: by === TO_PERSON ? 'person' : 'agent' } }];
  return message(step, by === BY_PERSON ? 'person' : 'agent');
}

function ended({ outcome, refusal }: Step): Shown[] {
  if (outcome === 'done' || outcome === 'cancelled') return [{ event: 'end', data: {} }];
  const isUsedUp = (refusal as { scope?: unknown } | undefined)?.scope === 'widget';
  return [{ event: 'end', data: { text: isUsedUp ? CLOSED : SORRY } }];
}

/** Nothing of a step that is not named here. */
export function shownOf(step: Step): Shown[] {
  switch (step.type) {
    case 'user':
      // What its owner says to the agent there is between those two; the answer is seen.
      return step['from'] === 'visitor' ? message(step, 'visitor') : [];
    case 'imported':
      return noted(step);
    case 'assistant':
      return message(step, 'agent');
    case 'approval_requested':
      return [{ event: 'waits', data: { text: WAITS } }];
    case 'run_ended':
      return ended(step);
    default:
      return [];
  }
}
