import { NOTHING_SPENT, type Busy, type Refusal, type RunOutcome, type SessionEventBody } from '../session/events.ts';
import type { SessionState } from '../session/session.ts';
import { failed } from '../tools/tool.ts';
import { resultEvent } from './tool-step.ts';

interface Ending {
  outcome: RunOutcome;
  reason?: string | undefined;
  refusal?: Refusal | undefined;
  busy?: Busy | undefined;
}

/** What ends a run; calls without a result get one, so that the log stays readable for a model. */
export function closingEvents(
  { pending, spent, next }: SessionState,
  { outcome, reason, refusal, busy }: Ending,
): SessionEventBody[] {
  const open = pending.map((call) =>
    resultEvent(call, failed(call.started ? 'The call was interrupted.' : 'The call was not made.'), NOTHING_SPENT),
  );
  const why = { ...(reason && { reason }), ...(refusal && { refusal }), ...(busy && { busy }) };
  return [...open, { type: 'run_ended', outcome, ...why, spent, ...(next && { leaves: next.seq }) }];
}
