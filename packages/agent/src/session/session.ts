import type { RunLimits } from '@troupe/domain';
import {
  NOTHING_SPENT,
  addSpent,
  type CallRecord,
  type Question,
  type Busy,
  type Refusal,
  type RunOutcome,
  type SessionEvent,
  type Spent,
  type Wishes,
} from './events.ts';

/** What a session's log means: computed from the events alone, so any process can go on where another stopped. */

export interface PendingCall extends CallRecord {
  started: boolean;
  approval: 'none' | 'pending' | 'approved' | 'denied';
  approvalId?: string;
  /** What it asks a person, and what they said. */
  question?: Question | undefined;
  answer?: string | undefined;
  /** When the question was asked. */
  askedAt?: number;
}

export interface FinishedCall {
  tool: string;
  args: string;
  content: string;
}

interface Begun {
  seq: number;
  limits?: RunLimits | undefined;
  wishes?: Wishes | undefined;
  trace?: string;
  depth?: number;
}

export interface SessionState {
  lastSeq: number;
  lastInput: number;
  /** The newest that somebody gave: the end of work in the background is none. */
  lastAsked: number;
  /** The run that is going on; undefined: every input has its answer. */
  run: Begun | undefined;
  /** The one that begins with its end: what was said after it was told to stop. */
  next: Begun | undefined;
  /** Who answers, if not the agent whose conversation it is. */
  acting: { agentId: string; name: string } | undefined;
  /** The newest answer of the model. */
  lastSaid: number;
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
    lastAsked: 0,
    lastSaid: 0,
    run: undefined,
    next: undefined,
    acting: undefined,
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
      given(state, event);
      state.lastInput = event.seq;
      state.answered = false;
      break;
    case 'assistant':
      state.pending = event.toolCalls.map((call) => ({ ...call, started: false, approval: 'none' }));
      state.spent = addSpent(state.spent, event.spent);
      state.lastSaid = event.seq;
      state.answered = isAnswer(event) && state.lastInput <= event.saw;
      break;
    case 'tool_started':
      change(state, event.callId, { started: true });
      break;
    case 'tool_result':
      finish(state, event.callId, event.content);
      state.spent = addSpent(state.spent, event.spent);
      break;
    case 'approval_requested':
      asked(state, event);
      break;
    case 'approval_decided':
      decided(state, event);
      break;
    case 'compaction':
      // What it stands for may hold the beginning of the run, so it carries the sums up to here.
      state.spent = event.spent;
      state.run = { ...event.run };
      state.acting = event.acting;
      break;
    case 'cancel_requested':
      state.cancelled = state.run !== undefined;
      break;
    case 'run_ended':
      Object.assign(state, {
        run: event.leaves === undefined ? undefined : state.next,
        next: undefined,
        spent: NOTHING_SPENT,
        cancelled: false,
        pending: [],
        finished: [],
        answered: false,
      });
      break;
    case 'handoff':
      state.acting = event.to;
      break;
    case 'imported':
    case 'recovered':
      break;
  }
}

function given(state: SessionState, event: SessionEvent & { type: 'user' }): void {
  if (event.background) state.spent = addSpent(state.spent, event.background.spent);
  else state.lastAsked = event.seq;
  // Who stops an answer and says something else is not told to stop again. What ends in the background says nothing new.
  const at = state.cancelled && !event.background ? 'next' : 'run';
  state[at] ??= begun(event);
  if (event.wishes) state[at] = { ...state[at], wishes: event.wishes };
}

const asked = (state: SessionState, event: SessionEvent & { type: 'approval_requested' }): void =>
  change(state, event.callId, {
    approval: 'pending',
    approvalId: event.approvalId,
    // A call that stopped to ask has to begin again: who finds it does not take it for interrupted.
    ...(event.question && { question: event.question, askedAt: event.seq, started: false }),
  });

const decided = (state: SessionState, event: SessionEvent & { type: 'approval_decided' }): void =>
  change(state, event.callId, {
    approval: event.approved ? 'approved' : 'denied',
    ...(event.answer !== undefined && { answer: event.answer }),
  });

const begun = ({ seq, limits, trace, depth }: SessionEvent & { type: 'user' }): Begun => ({
  seq,
  limits,
  ...(trace && { trace }),
  ...(depth !== undefined && { depth }),
});

function change(state: SessionState, callId: string, to: Partial<PendingCall>): void {
  state.pending = state.pending.map((call) => (call.callId === callId ? { ...call, ...to } : call));
}

function finish(state: SessionState, callId: string, content: string): void {
  const call = state.pending.find((one) => one.callId === callId);
  if (!call) return;
  state.finished.push({ tool: call.tool, args: call.args, content });
  state.pending = state.pending.filter((one) => one !== call);
}

/** Whatever of these is stored, the run got further. */
const STEPS: ReadonlySet<string> = new Set(['assistant', 'tool_started', 'tool_result', 'compaction', 'run_ended']);

/** How often a run was taken up again since it last got further. */
export const recoveries = (events: readonly SessionEvent[]): number =>
  events.slice(events.findLastIndex(({ type }) => STEPS.has(type)) + 1).filter(({ type }) => type === 'recovered')
    .length;

/** Only such an event can settle what an input came to. */
export const canSettle = ({ type }: SessionEvent): boolean => type === 'assistant' || type === 'run_ended';

/** What one input came to. */
export interface Settled {
  outcome: RunOutcome;
  /** The event that settles it. */
  seq: number;
  /** The words that answer it. */
  reply: string;
  reason?: string;
  refusal?: Refusal;
  busy?: Busy;
  spent: Spent;
  at: string;
}

/**
 * What the input `seq` came to, as all that came after it in its session tells; undefined while nobody knows. Its answer
 * is the first that asks for no tool and saw it, whatever else the run goes on with: what came in later gets its own. Two
 * inputs that one answer saw share it. Without one it ends as its run does, with the last words that were said to it.
 */
export function answerTo(events: readonly SessionEvent[], seq: number): Settled | undefined {
  const later = events.filter((event) => event.seq > seq);
  const endAt = later.findIndex((event) => event.type === 'run_ended' && (event.leaves ?? Infinity) > seq);
  const own = endAt < 0 ? later : later.slice(0, endAt + 1);
  const end = endAt < 0 ? undefined : (later[endAt] as SessionEvent & { type: 'run_ended' });
  const said = own.filter((event): event is Said => event.type === 'assistant' && event.saw >= seq);
  const final = said.find(isAnswer);
  const until = said.filter((event) => final === undefined || event.seq <= final.seq);
  const reply = until.findLast(({ content }) => content !== '')?.content ?? '';
  if (final) {
    const spent = readSession(own.filter((event) => event.seq <= final.seq)).spent;
    // The run had nothing else to answer: its end says what it cost, whoever else was in it.
    const isLast = end?.outcome === 'done' && end.seq === final.seq + 1;
    return { outcome: 'done', seq: final.seq, reply, spent: isLast ? end.spent : spent, at: final.at };
  }
  if (!end) return undefined;
  const { outcome, seq: endSeq, reason, refusal, busy, spent, at } = end;
  const why = { ...(reason && { reason }), ...(refusal && { refusal }), ...(busy && { busy }) };
  return { outcome, seq: endSeq, reply, ...why, spent, at };
}

type Said = SessionEvent & { type: 'assistant' };

const isAnswer = ({ toolCalls, stopped, handsOver }: Said): boolean =>
  toolCalls.length === 0 && stopped !== true && handsOver !== true;

/** What comes after one input, heard live or read, in any order: kept only as far as it is without a gap. */
export interface Trail {
  add: (event: SessionEvent) => void;
  /** The number of the last event without a gap before it. */
  last: () => number;
  answer: () => Settled | undefined;
  /** What it cost so far. */
  spent: () => Spent;
}

export function openTrail(seq: number): Trail {
  const ahead = new Map<number, SessionEvent>();
  const events: SessionEvent[] = [];
  let last = seq;
  return {
    add(event) {
      if (event.seq <= last) return;
      ahead.set(event.seq, event);
      for (let next = ahead.get(last + 1); next; next = ahead.get(last + 1)) {
        ahead.delete(next.seq);
        last = next.seq;
        events.push(next.type === 'tool_result' ? { ...next, content: '' } : next);
      }
    },
    last: () => last,
    answer: () => answerTo(events, seq),
    spent: () => readSession(events.filter(({ type }) => type !== 'run_ended')).spent,
  };
}
