import type { Branch } from '@troupe/contract';
import { isBreak } from './transcript.ts';
import type { Turn } from './transcript.ts';

/** What an answer took as a whole, from the question to its last words. */
export interface Whole {
  steps: number;
  ms: number;
  costMicros: number;
  tokens: number;
}

/** The last words of the agent before somebody speaks again; after a break it goes on. */
export const isFinal = (turns: readonly Turn[], index: number): boolean =>
  turns[index]?.kind === 'agent' &&
  !isBreak(turns[index + 1]) &&
  ['user', 'told'].includes(turns[index + 1]?.kind ?? 'user');

/** By the key of the last words of each answer. */
export function wholesOf(turns: readonly Turn[]): Map<string, Whole> {
  const wholes = new Map<string, Whole>();
  // What was asked is a step, too, as on the page of the run.
  let sum: Whole = { steps: 1, ms: 0, costMicros: 0, tokens: 0 };
  let asked = '';
  for (const [index, turn] of turns.entries()) {
    if (turn.kind === 'user') {
      sum = { steps: 1, ms: 0, costMicros: 0, tokens: 0 };
      asked = turn.at;
    }
    if (turn.kind !== 'agent') continue;
    sum = {
      // Where somebody was asked about a call, that is one as well.
      steps: sum.steps + 1 + turn.tools.length + turn.tools.filter(({ approvalId }) => approvalId).length,
      ms: asked === '' ? 0 : Math.max(0, Date.parse(turn.at) - Date.parse(asked)),
      costMicros: sum.costMicros + (turn.spent?.costMicros ?? 0),
      tokens: sum.tokens + (turn.spent?.tokens ?? 0),
    };
    if (isFinal(turns, index)) wholes.set(turn.key, sum);
  }
  return wholes;
}

/** The run that a branch is another way to go on from, and the message of the branch that begins its own. */
export interface Forked {
  asked: string;
  sessionId: string;
  first: number;
}

export function forkedFrom(turns: readonly Turn[], own: Branch | undefined): Forked | undefined {
  if (!own?.branchOf) return undefined;
  const parts = own.branchAt ?? 0;
  const at = turns.findIndex(({ kind, key }) => kind === 'user' && Number(key) > parts);
  if (at < 0) return undefined;
  const before = turns.slice(0, at);
  // Cut in the middle of a run: its end is the branch's own, and its beginning is in both.
  const isCut = before.some(({ kind, key }) => kind === 'note' && Number(key) > parts);
  const begun = isCut ? before.findLast(({ kind }) => kind === 'user') : turns[at];
  return begun && { asked: turns[at]!.key, sessionId: own.branchOf, first: Number(begun.key) };
}
