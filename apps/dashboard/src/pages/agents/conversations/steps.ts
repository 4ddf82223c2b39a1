import type { SessionStep } from '@troupe/contract';

/** With what has happened since; what is known already, or came late, is not taken twice. */
export const withStep = (steps: SessionStep[], step: SessionStep): SessionStep[] =>
  step.seq > (steps.at(-1)?.seq ?? 0) ? [...steps, step] : steps;
