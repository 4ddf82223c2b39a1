import type { RunOutcome } from '../session/events.ts';
import { loopState, narrow, reached } from './limits.ts';
import { onStage } from './lent.ts';
import { ModelFailure, modelStep, StoppedAnswer, type Turn } from './model-step.ts';
import { Interrupted, openRunLog, runIdOf, traceOf, type RunDeps, type RunLog } from './run.ts';
import { readSession, recoveries, type SessionState } from '../session/session.ts';
import { closingEvents } from './closing.ts';
import { toolStep } from './tool-step.ts';
import type { Claimed } from '../store/store.ts';
import type { Held } from '../tools/tool.ts';

/**
 * Works on a session until every input has its answer: read the log, take the next step, append. It keeps nothing
 * between steps, so it can stop after any of them and go on elsewhere.
 */

export interface LoopControl {
  owner: string;
  /** The session was left behind by a process that died, or a try that broke off. */
  recovers: boolean;
  /** Ends model calls and tools at once; the log says then whether it was a cancel. */
  signal: AbortSignal;
  /** Stop after the step at hand; a model call is not waited for, it can be made again. */
  halt: AbortSignal;
  /** What the run's tools hold between calls. */
  held: Held;
}

/** A run that takes its process down each time would do so for ever. */
const MAX_RECOVERIES = 3;
const GIVEN_UP = `The run was given up: it was taken up ${MAX_RECOVERIES} times after an interruption and got no further.`;

/**
 * `waits`: its run goes on when somebody has decided, or given a result. `left`: the run was stopped, and something was
 * said after that: the session is free, and open.
 */
export type Rest = 'ended' | 'waits' | 'left';

/** How a session was let go. */
function restOf(run: RunLog): Rest {
  if (readSession(run.events()).run === undefined) return 'ended';
  return run.events().at(-1)?.type === 'run_ended' ? 'left' : 'waits';
}

export async function workOn(deps: RunDeps, claimed: Claimed, control: LoopControl): Promise<Rest> {
  deps.files?.begin();
  const run = openRunLog(deps, control.owner, claimed);
  if (control.recovers && !(await takeUp(run))) return restOf(run);
  for (;;) {
    const state = readSession(run.events());
    if (control.halt.aborted) throw new Interrupted('asleep');
    if (state.run === undefined) {
      if (await run.conclude('idle', [])) return 'ended';
      continue;
    }
    try {
      if ((await step(deps, run, state, control)) === 'rests') return restOf(run);
    } catch (error) {
      if (error instanceof Interrupted) throw error;
      if (control.signal.reason instanceof Interrupted) throw control.signal.reason;
      if (control.halt.aborted) throw new Interrupted('asleep');
      await run.refresh();
      // An aborted call of a cancelled run is no failure: the next round ends it.
      const isCancelled = control.signal.aborted && readSession(run.events()).cancelled;
      const stopped = [error, (error as Error).cause].find((one) => one instanceof StoppedAnswer);
      if (stopped && (isCancelled || error instanceof ModelFailure))
        await run.commit([stopped.event], { tokens: stopped.event.spent.tokens });
      if (isCancelled) continue;
      if (!(error instanceof ModelFailure)) throw error;
      if (await end(run, readSession(run.events()), error.outcome, error.message, error)) return restOf(run);
    }
  }
}

/** Notes that it goes on, before it does: the next process knows then how often. False: it was one time too many. */
async function takeUp(run: RunLog): Promise<boolean> {
  for (;;) {
    const state = readSession(run.events());
    if (state.run === undefined) return true;
    if (recoveries(run.events()) < MAX_RECOVERIES) {
      await run.commit([{ type: 'recovered' }]);
      return true;
    }
    if (await end(run, state, 'failed', GIVEN_UP)) return false;
  }
}

async function step(
  own: RunDeps,
  log: RunLog,
  state: SessionState,
  { signal, halt, owner, held }: LoopControl,
): Promise<'rests' | 'goes on'> {
  if (state.run === undefined) return 'goes on';
  const { deps, run } = await onStage(own, log, state.acting);
  const limits = narrow(run.definition.limits, state.run.limits);
  const runId = runIdOf(run.sessionId, state.run.seq);
  const turn: Turn = {
    run,
    runId,
    trace: traceOf(deps, runId, state.run.trace),
    owner,
    limits,
    held,
    signal,
    modelSignal: AbortSignal.any([signal, halt]),
  };
  const ending = whyEnd(state, run, limits);
  if (ending) return (await end(run, state, ending.outcome, ending.reason)) ? 'rests' : 'goes on';
  if (state.pending.length > 0) return (await toolStep(deps, turn)) === 'waits' ? 'rests' : 'goes on';
  return (await modelStep(deps, turn)) === 'ended' ? 'rests' : 'goes on';
}

function whyEnd(
  state: SessionState,
  run: RunLog,
  limits: Turn['limits'],
): { outcome: RunOutcome; reason?: string } | undefined {
  if (state.cancelled) return { outcome: 'cancelled' };
  if (state.answered) return { outcome: 'done' };
  const limit = reached(limits, state.spent);
  if (limit !== undefined) return { outcome: 'limit', reason: limit };
  const { maxTokensPerDay } = run.definition.config.safety;
  if (run.tokensToday() >= maxTokensPerDay) {
    return { outcome: 'limit', reason: `The limit of ${maxTokensPerDay} tokens a day is reached.` };
  }
  if (loopState(state.finished) === 'stop') {
    return { outcome: 'loop', reason: 'The agent repeated the same calls with the same results.' };
  }
  return undefined;
}

/** Closes the run; calls without a result get one, so that the log stays readable for a model. */
function end(
  run: RunLog,
  state: SessionState,
  outcome: RunOutcome,
  reason?: string,
  { refusal, busy }: Partial<Pick<ModelFailure, 'refusal' | 'busy'>> = {},
): Promise<boolean> {
  const status = state.next === undefined ? 'idle' : 'open';
  return run.conclude(status, closingEvents(state, { outcome, reason, refusal, busy }));
}
