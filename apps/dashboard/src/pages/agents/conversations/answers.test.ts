import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionStep } from '@troupe/contract';
import { forkedFrom, wholesOf } from './answers.ts';
import { transcript } from './transcript.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const spent = { turns: 1, tokens: 10, costMicros: 5, ms: 1000 };
const STEPS = [
  { seq: 1, at: at(0), type: 'user', content: 'Write' },
  { seq: 2, at: at(2), type: 'assistant', spent, toolCalls: [{ callId: 'c', tool: 'write_file', args: '{}' }] },
  { seq: 3, at: at(3), type: 'tool_result', callId: 'c', content: 'ok' },
  { seq: 4, at: at(6), type: 'assistant', spent, content: 'Done' },
  { seq: 5, at: at(6), type: 'run_ended', outcome: 'done' },
] as SessionStep[];
const cut = { seq: 4, at: at(9), type: 'run_ended', outcome: 'cancelled', reason: 'x' } as SessionStep;
const next = (seq: number) => ({ seq, at: at(10), type: 'user', content: 'Go on' }) as SessionStep;
const branch = (branchAt: number) => ({ id: 'b', branchOf: 'a', branchAt, updatedAt: at(0) });

test('an answer is told as a whole: its steps, its time, its cost', () => {
  const wholes = wholesOf(transcript([...STEPS, next(6)]));
  assert.deepEqual([...wholes], [['4', { steps: 4, ms: 6000, costMicros: 10, tokens: 20 }]]);
  // A page that begins in the middle of an answer knows no time.
  assert.equal(wholesOf(transcript(STEPS.slice(1))).get('4')?.ms, 0);
});

test('a branch knows the run beside which it stands', () => {
  const other = (steps: SessionStep[], parts: number) => forkedFrom(transcript(steps), branch(parts));
  // In place of the first message; after the run; in its middle.
  assert.deepEqual(other([next(1)], 0), { asked: '1', sessionId: 'a', first: 1 });
  assert.deepEqual(other([...STEPS, next(6)], 5), { asked: '6', sessionId: 'a', first: 6 });
  assert.deepEqual(other([...STEPS.slice(0, 3), cut, next(5)], 3), { asked: '5', sessionId: 'a', first: 1 });
  // Nothing was said in it yet, or it is no branch.
  assert.equal(other(STEPS, 5), undefined);
  assert.equal(forkedFrom(transcript(STEPS), { ...branch(0), branchOf: null }), undefined);
});
