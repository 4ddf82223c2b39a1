import type { RunLimits } from './definition.ts';
import { NOTHING_SPENT, addSpent, type CallRecord, type SessionEvent, type Spent } from './events.ts';

/** What a session's log means: computed from the events alone, so any process can go on where another stopped. */

export interface PendingCall extends CallRecord {
  started: boolean;
  approval: 'none' | 'pending' | 'approved' | 'denied';
}

export interface FinishedCall {
  tool: string;
  args: string;
  content: string;
}

export interface SessionState {
  lastSeq: number;
  lastInput: number;
  /** The run that is going on; undefined: every input has its answer. */
  run: { seq: number; limits: RunLimits | undefined } | undefined;
  spent: Spent;
  cancelled: boolean;
  /** Calls of the newest answer that have no result yet. */
  pending: PendingCall[];
  /** Calls of this run that have one, in order. */
  finished: FinishedCall[];
  /** The newest answer asked for no tool and nothing came after it. */
  answered: boolean;
}

export function readSession(events: readonly SessionEvent[]): SessionState {
  const state: SessionState = {
    lastSeq: 0,
    lastInput: 0,
    run: undefined,
    spent: NOTHING_SPENT,
    cancelled: false,
    pending: [],
    finished: [],
    answered: false,
  };
  for (const event of events) {
    apply(state, event);
    state.lastSeq = event.seq;
  }
  return state;
}

function apply(state: SessionState, event: SessionEvent): void {
  switch (event.type) {
    case 'user':
      state.run ??= { seq: event.seq, limits: event.limits };
      state.lastInput = event.seq;
      state.answered = false;
      break;
    case 'assistant':
      state.pending = event.toolCalls.map((call) => ({ ...call, started: false, approval: 'none' }));
      state.spent = addSpent(state.spent, event.spent);
      state.answered = event.toolCalls.length === 0 && state.lastInput <= event.saw;
      break;
    case 'tool_started':
      change(state, event.callId, { started: true });
      break;
    case 'tool_result':
      finish(state, event.callId, event.content);
      state.spent = addSpent(state.spent, event.spent);
      break;
    case 'approval_requested':
      change(state, event.callId, { approval: 'pending' });
      break;
    case 'approval_decided':
      change(state, event.callId, { approval: event.approved ? 'approved' : 'denied' });
      break;
    case 'compaction':
      // What it stands for may hold the beginning of the run, so it carries the sums up to here.
      state.spent = event.spent;
      state.run = { seq: event.run.seq, limits: event.run.limits };
      break;
    case 'cancel_requested':
      state.cancelled = state.run !== undefined;
      break;
    case 'run_ended':
      Object.assign(state, {
        run: undefined,
        spent: NOTHING_SPENT,
        cancelled: false,
        pending: [],
        finished: [],
        answered: false,
      });
      break;
    case 'imported':
      break;
  }
}

function change(state: SessionState, callId: string, to: Partial<PendingCall>): void {
  state.pending = state.pending.map((call) => (call.callId === callId ? { ...call, ...to } : call));
}

function finish(state: SessionState, callId: string, content: string): void {
  const call = state.pending.find((one) => one.callId === callId);
  if (!call) return;
  state.finished.push({ tool: call.tool, args: call.args, content });
  state.pending = state.pending.filter((one) => one !== call);
}

/** The end of the run that took in the event `seq`: its last words and how it ended; undefined while it goes on. */
export function endOfRun(
  events: readonly SessionEvent[],
  seq: number,
): { end: SessionEvent & { type: 'run_ended' }; reply: string } | undefined {
  const end = events.find((event) => event.type === 'run_ended' && event.seq > seq);
  if (end?.type !== 'run_ended') return undefined;
  const words = events.filter((event) => event.type === 'assistant' && event.seq > seq && event.seq < end.seq);
  const last = words.findLast((event) => event.type === 'assistant' && event.content !== '');
  return { end, reply: last?.type === 'assistant' ? last.content : '' };
}
