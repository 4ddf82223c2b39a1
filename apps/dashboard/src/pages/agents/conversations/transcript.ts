import type { Attachment, Question, SessionStep } from '@troupe/contract';

/** A session's log, read as a conversation: what was said, which tools were used, what waits for a decision. */

type Spent = NonNullable<SessionStep['spent']>;

export interface ToolUse {
  callId: string;
  tool: string;
  args: string;
  state: 'planned' | 'waiting' | 'running' | 'done' | 'failed' | 'refused';
  result?: string;
  /** That came of it. */
  pictures?: Attachment[];
  approvalId?: string;
  question?: Question;
}

export type Turn =
  | { kind: 'user'; key: string; text: string; at: string; attachments: Attachment[] }
  | { kind: 'agent'; key: string; text: string; at: string; model?: string; tools: ToolUse[]; spent?: Spent }
  | Told
  | Ending;

/** What nobody said: work in the background that ended, another agent that answers from here on, a break in the work. */
export interface Told {
  kind: 'told';
  key: string;
  what: 'handoff' | 'recovered' | 'done' | 'failed' | 'stopped';
  member: string;
  text: string;
  at: string;
}

/** Whose cap it was, what was used and what may be. */
interface Refusal {
  scope?: unknown;
  used?: unknown;
  limit?: unknown;
}

/** How a run ended that did not end well. */
export interface Ending {
  kind: 'note';
  key: string;
  outcome: string;
  text: string;
  at: string;
  spent?: Spent;
  /** There was no money or quota left: what the meter says. */
  refusal?: Refusal;
}

export function transcript(steps: SessionStep[]): Turn[] {
  const turns: Turn[] = [];
  const calls = new Map<string, ToolUse>();
  for (const step of steps) {
    const key = String(step.seq);
    const told = toldBy(step);
    if (told) {
      // Several breaks in a row are one.
      if (!isBreak(told) || !isBreak(turns.at(-1))) turns.push(told);
    } else if (step.type === 'user' || (step.type === 'imported' && step.role === 'user')) {
      turns.push({ kind: 'user', key, text: step.content ?? '', at: step.at, attachments: step.attachments ?? [] });
    } else if (step.type === 'assistant' || step.type === 'imported') {
      const tools = (step.toolCalls ?? []).map((call): ToolUse => ({ ...call, state: 'planned' }));
      for (const tool of tools) calls.set(tool.callId, tool);
      const { content: text = '', at, model, spent } = step;
      turns.push({ kind: 'agent', key, text, at, model, tools, spent });
    } else if (step.type === 'run_ended' && step.outcome !== 'done') {
      const { at, outcome = '', reason: text = '', spent } = step;
      // An agent elsewhere may say anything.
      const refusal = step['refusal'] === undefined ? undefined : { ...(step['refusal'] as Refusal | null) };
      const after = saidAfter(turns, step.leaves);
      turns.push({ kind: 'note', key, outcome, text, at, spent, refusal }, ...after);
    } else if (step.callId) {
      const call = calls.get(step.callId);
      if (call) applyStep(call, step);
    }
  }
  return turns;
}

/** Takes out what was said after a run was told to stop: it stands below the end of that run. */
function saidAfter(turns: Turn[], leaves = Infinity): Turn[] {
  const isAfter = ({ kind, key }: Turn) => kind === 'user' && Number(key) >= leaves;
  const after = turns.filter(isAfter);
  if (after.length > 0) turns.splice(0, turns.length, ...turns.filter((turn) => !isAfter(turn)));
  return after;
}

/** The process that worked on it died, and another one went on. */
export const isBreak = (turn: Turn | undefined): boolean => turn?.kind === 'told' && turn.what === 'recovered';

function toldBy({ seq, at, type, content: text = '', background, to }: SessionStep): Told | undefined {
  const key = String(seq);
  if (type === 'handoff') return { kind: 'told', key, what: 'handoff', member: to?.name ?? '', text: '', at };
  if (type === 'recovered') return { kind: 'told', key, what: 'recovered', member: '', text: '', at };
  return background && { kind: 'told', key, what: background.status, member: background.member, text, at };
}

function applyStep(call: ToolUse, step: SessionStep): void {
  if (step.type === 'tool_started') call.state = 'running';
  if (step.type === 'approval_requested') {
    call.state = 'waiting';
    call.approvalId = step.approvalId;
    if (step.question) call.question = step.question;
  }
  if (step.type === 'approval_decided') call.state = step.approved ? 'running' : 'refused';
  if (step.type === 'tool_result') {
    if (call.state !== 'refused') call.state = step.isError ? 'failed' : 'done';
    call.result = step.content;
    if (step.attachments) call.pictures = step.attachments;
  }
}

const OUTSIDE = new Set(['user', 'imported', 'run_ended']);

/** What the session is doing: a run is open from its first input to its end. */
export function stateOf(steps: SessionStep[]): 'idle' | 'open' | 'waiting' {
  const waiting = new Set<string>();
  // A page may begin in the middle of a run.
  let isOpen = steps[0] !== undefined && !OUTSIDE.has(steps[0].type);
  for (const { type, approvalId = '', leaves } of steps) {
    if (type === 'user') isOpen = true;
    if (type === 'approval_requested') waiting.add(approvalId);
    if (type === 'approval_decided') waiting.delete(approvalId);
    if (type !== 'run_ended') continue;
    isOpen = leaves !== undefined;
    waiting.clear();
  }
  return !isOpen ? 'idle' : waiting.size > 0 ? 'waiting' : 'open';
}

export const spentOf = (steps: SessionStep[]): Spent => {
  const total = { turns: 0, tokens: 0, costMicros: 0, ms: 0 };
  for (const { type, spent } of steps) {
    // The end of a run repeats the sum of its steps.
    if (!spent || type === 'run_ended') continue;
    total.turns += spent.turns;
    total.tokens += spent.tokens;
    total.costMicros += spent.costMicros;
    total.ms += spent.ms;
  }
  return total;
};
